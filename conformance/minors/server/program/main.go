// Command program runs the API server for custom resources of the Kubernetes minor whose libraries it
// links. Package server documents its output.
package main

import "github.com/celadon-cel/celadon/conformance/minors/server"

func main() { server.Main() }
