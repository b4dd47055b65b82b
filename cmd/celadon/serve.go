package main

import (
	"github.com/spf13/cobra"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/serve"
)

func serveCommand(s command.Streams) *cobra.Command {
	var o serve.Options
	cmd := &cobra.Command{
		Use:   "serve [--crd PATH] [--policy PATH] --tls-cert FILE --tls-key FILE",
		Short: "Serve an admission webhook that validates objects against a folder of CRDs",
		Long: `Serve answers AdmissionReviews (admission.k8s.io/v1) over HTTPS:

  /validate  rejects objects that the CRDs reject
  /mutate    sets the CRDs' defaults
  /healthz   the process is alive
  /readyz    the CRDs are loaded and the server is not draining
  /metrics   metrics for Prometheus

CRDs and certificates are reloaded when they change. If a changed CRD does not compile
or an API server would reject it, the previous CRD stays in effect; at startup this is
an error. In modes warn and audit, a CRD that compiles but would be rejected takes
effect if no CRD of its name is in effect.

With --policy, /validate also rejects what the admission policies there deny, for all
operations and kinds.

Logs are JSON lines on standard error. SIGTERM drains the server: /readyz returns 503
for --drain, then open requests are answered, then the process ends with exit code 0.`,
		Example: `  celadon serve --crd crds/ --tls-cert tls.crt --tls-key tls.key --mode warn
  celadon serve --crd crds/ --plain-http --listen 127.0.0.1:8080`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve.Run(cmd.Context(), s, &o)
		},
	}
	o.Flags(cmd.Flags())
	command.Operands(cmd, false, "crd", "policy", "tls-cert", "tls-key", "client-ca", "convert-ca")
	command.Also(cmd, "crd", "filename", "f", "")
	command.Also(cmd, "crd", "crds", "", "use --crd")
	command.Also(cmd, "policy", "policies", "", "use --policy")
	command.Values(cmd, "mode", "enforce", "warn", "audit")
	command.Values(cmd, "unknown-crd", "allow", "refuse")
	command.KubeVersions(cmd, "kube-version")
	withoutFiles(cmd, "listen", "remove-after", "max-concurrent", "drain", "convert")
	return cmd
}
