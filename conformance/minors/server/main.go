package server

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Main implements the program of a minor. If the server does not start, Main prints the reason on stdout,
// because libraries write the traces of the server's panics to stderr.
func Main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	s, err := Start(RequestBytes)
	if err != nil {
		return err
	}
	defer s.Stop()
	if err := json.NewEncoder(out).Encode(s.Endpoint); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}
