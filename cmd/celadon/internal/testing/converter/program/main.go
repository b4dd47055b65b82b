// Converter is a converter program for tests.
package main

import "github.com/celadon-cel/celadon/cmd/celadon/internal/testing/converter"

func main() { converter.Main() }
