// Celadonvet runs the analyzer. Run celadonvet ./... or go vet -vettool=celadonvet ./...
package main

import (
	"golang.org/x/tools/go/analysis/singlechecker"

	"github.com/celadon-cel/celadon/celadonvet"
)

func main() { singlechecker.Main(celadonvet.New(celadonvet.Config{})) }
