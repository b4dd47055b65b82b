package assist_test

import (
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/x/assist"
)

// Completion with a schema is tested in the shell and in the language server.
func TestPolicyComplete(t *testing.T) {
	t.Parallel()
	p := &assist.PolicyContext{Variables: []string{"limit", "list"}}
	for _, tt := range []struct{ src, want string }{
		{"", "object oldObject request params namespaceObject variables authorizer"},
		{"o", "object oldObject"},
		{"true && re", "request"},
		{"variables.", "limit list"},
		{"variables.lim", "limit"},
		{"[1].all(x, x < variables.li", "limit list"},
		{"request.userInfo.", "username uid groups extra"},
		{"object.metadata.lab", "labels"},
		{"self.request.", ""},
		{"f(request).", ""},
		{"object.spec.", ""},
		{".", ""},
		{"request.userInfo.username.", ""},
		{"'request.", ""},
	} {
		var got []string
		for _, c := range p.Complete([]rune(tt.src)).Candidates {
			got = append(got, c.Text)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q: got %q, want %q", tt.src, got, tt.want)
		}
	}
	if h := p.Hover("object.spec", 1); h == nil || h.Text != "object" || h.Start != 0 || h.End != 6 {
		t.Errorf("got %+v", h)
	}
	if h := p.Hover("object.spec", 8); h != nil {
		t.Errorf("got %+v", h)
	}
}
