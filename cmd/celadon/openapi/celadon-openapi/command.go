package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/outfile"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/docs"
	"github.com/celadon-cel/celadon/cmd/celadon/openapi"
	"github.com/celadon-cel/celadon/internal/text/filename"
)

// options holds the values of the command's flags.
type options struct {
	crds         []string
	groupVersion string
	v2           bool
	out          string
}

func newCommand(s command.Streams) *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "celadon-openapi --crd PATH",
		Short: "Print the OpenAPI documents that an API server publishes for CRDs",
		Long: `Celadon-openapi prints the document that an API server publishes for CRDs at
/openapi/v3/apis/GROUP/VERSION, or with --v2 the part that they add to /openapi/v2,
byte for byte except that keys are sorted. The document is built by the server's own
code, in the version that celadon version prints.

It does not check whether a server would accept the CRDs: use celadon vet for that.

Exit codes: 0 success, 2 usage error or unreadable input.`,
		Example: `  celadon-openapi --crd crd.yaml
  celadon-openapi --crd crds/ --group-version stable.example.com/v1
  celadon-openapi --crd crds/ --out openapi/
  celadon-openapi --crd crds/ --v2`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return command.SeeHelp(cmd, err)
			}
			crds, broken, err := docs.Read(cmd.Context(), s, o.crds)
			if err != nil {
				return err
			}
			if err := o.publish(s, crds); err != nil {
				return err
			}
			if broken {
				return &command.ExitError{Code: command.Usage}
			}
			return nil
		},
	}
	cmd.SetOut(s.Stdout)
	cmd.SetErr(s.Stderr)
	f := cmd.Flags()
	f.StringArrayVar(&o.crds, "crd", nil, "read CRDs from `PATH`: a file, a folder, or - (repeatable)")
	f.StringVar(&o.groupVersion, "group-version", "", "print only the document of one `GROUP/VERSION`")
	f.BoolVar(&o.v2, "v2", false, "print OpenAPI v2: one document for all CRDs")
	f.StringVar(&o.out, "out", "", "write one file per document into `DIR`, which is created")
	command.Operands(cmd, false, "crd")
	command.Complete(cmd, nil)
	return cmd
}

func (o *options) check() error {
	switch {
	case len(o.crds) == 0:
		return errors.New("no CRDs given: use --crd PATH")
	case o.v2 && o.groupVersion != "":
		return errors.New("--v2 and --group-version both given: OpenAPI v2 has a single document for all versions")
	}
	return nil
}

// publish writes the requested documents to the folder o.out. Without a folder, it writes the only
// document to standard output, and returns an error if there are several.
func (o *options) publish(s command.Streams, crds []*apiextensionsv1.CustomResourceDefinition) error {
	files, err := o.documents(crds)
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := outfile.MkdirAll(o.out, 0o777); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			path, err := filename.Join(o.out, name)
			if err != nil {
				return err
			}
			if err := outfile.Write(path, files[name]); err != nil {
				return err
			}
		}
		return nil
	}
	if len(files) > 1 {
		return fmt.Errorf("%d documents: use --group-version for one of them, or --out DIR for all", len(files))
	}
	for _, data := range files {
		_, err = s.Stdout.Write(data)
	}
	return err
}

// documents returns the requested documents by file name.
func (o *options) documents(crds []*apiextensionsv1.CustomResourceDefinition) (map[string][]byte, error) {
	if o.v2 {
		data, err := openapi.V2(crds)
		return map[string][]byte{"swagger.json": indented(data)}, err
	}
	all, err := openapi.V3(crds)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for path, data := range all {
		if o.groupVersion == "" || path == "apis/"+o.groupVersion {
			files[strings.ReplaceAll(path, "/", "__")+"_openapi.json"] = indented(data)
		}
	}
	if len(files) > 0 {
		return files, nil
	}
	if len(all) == 0 {
		return nil, errors.New("no version is served, so nothing is published")
	}
	return nil, fmt.Errorf("--group-version %q: no such version is served: want %s", o.groupVersion, strings.ReplaceAll(strings.Join(slices.Sorted(maps.Keys(all)), ", "), "apis/", ""))
}

func indented(data []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, data, "", "  ") != nil {
		return data
	}
	b.WriteByte('\n')
	return b.Bytes()
}
