package command

import "testing"

func TestFitted(t *testing.T) {
	t.Parallel()
	const text = `Check validates objects
against their CRDs.

Usage:
  celadon check [--crd PATH...] OBJECTS... [flags]

Flags:
  -o, --output string   report format: text or json
`
	const want = `Check validates objects against
their CRDs.

Usage:
  celadon check [--crd PATH...] OBJECTS... [flags]

Flags:
  -o, --output string   report
                format: text or
                json
`
	if got := fitted(text, 32); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := fitted(want, 80); got != "Check validates objects against their CRDs.\n"+want[len("Check validates objects against\ntheir CRDs.\n"):] {
		t.Errorf("got\n%s", got)
	}
}
