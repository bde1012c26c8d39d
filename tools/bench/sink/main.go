// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// Takes whatever is sent by gRPC, and keeps nothing of it: what a profiler that sends its data away needs to go on.
package main

import (
	"io"
	"log"
	"net"
	"os"

	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip"
)

// Messages are bytes, whatever they mean.
type bytesCodec struct{}

func (bytesCodec) Name() string { return "proto" }

func (bytesCodec) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

func (bytesCodec) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}

// An empty message is an answer without complaints in each of the services that are used here.
func take(_ any, stream grpc.ServerStream) error {
	var message, nothing []byte

	for {
		if err := stream.RecvMsg(&message); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := stream.SendMsg(&nothing); err != nil {
			return err
		}
	}
}

func main() {
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodec(bytesCodec{}), grpc.UnknownServiceHandler(take),
		grpc.MaxRecvMsgSize(64<<20))
	log.Fatal(server.Serve(listener))
}
