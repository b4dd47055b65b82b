package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
)

// openapiCommand returns a command that only refers to celadon-openapi. Linking the API server's own
// builder of OpenAPI documents would make this command a quarter larger.
func openapiCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "openapi --crd PATH",
		Short: "Where to get celadon-openapi, which prints the OpenAPI documents of CRDs",
		Long: `The OpenAPI v2 and v3 documents that an API server publishes of CRDs are made by
celadon-openapi, a command of its own: the server's code for it brings a web framework
and all built-in types. In a clone of Celadon, make openapi builds bin/celadon-openapi.`,
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		Args:               cobra.ArbitraryArgs,
		RunE: func(*cobra.Command, []string) error {
			return &command.ExitError{Code: command.Usage, Err: errors.New("openapi is a command of its own: want celadon-openapi, which make openapi builds in a clone of Celadon")}
		},
	}
}
