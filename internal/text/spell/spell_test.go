package spell

import (
	"slices"
	"strings"
	"testing"
)

func TestNear(t *testing.T) {
	for _, c := range []struct {
		word, known, want string
	}{
		{"replica", "replicas image", "replicas"},
		{"relpicas", "replicas image", "replicas"}, // swapped
		{"IMAGE", "replicas image", "image"},
		{"imgae", "replicas image", "image"},
		{"--kubeversion", "--kube-version --crd", "--kube-version"},
		{"--obejct", "--object --old", "--object"},
		{"tset", "test vet", "test"},
		{"chek", "check vet", "check"},
		{":s", ":ls :set", ":ls :set"},
		{"ab", "aa ac ad ae", "aa ac ad"},                               // at most three
		{"ab", "ab ac ab", "ab"},                                        // only the nearest, and only once
		{"imagePullPolice", "image imagePullPolicy", "imagePullPolicy"}, // rather than a prefix
		{"imagePullPolice", "imagePullPolicy image", "imagePullPolicy"},
		{"images", "image", "image"},
		{"xyz", "replicas image", ""},
		{"a", "b", "b"},
		{"日本", "日本語 中国", "日本語"},
		{"", "a", ""},
		{"a", "", ""},
	} {
		got := Near(c.word, strings.Fields(c.known))
		if want := strings.Fields(c.want); !slices.Equal(got, want) {
			t.Errorf("%q among %q: %q, want %q", c.word, c.known, got, want)
		}
		first, _, _ := strings.Cut(c.want, " ")
		if nearest := Nearest(c.word, strings.Fields(c.known)); nearest != first {
			t.Errorf("%q among %q: nearest %q, want %q", c.word, c.known, nearest, first)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	if got := DidYouMean("ab", []string{"ac", "ad", "zz"}); got != "; did you mean ac or ad?" {
		t.Errorf("%q", got)
	}
	if got := DidYouMean("ab", []string{"zz"}); got != "" {
		t.Errorf("%q", got)
	}
}

// TestLongWords checks that long words are not compared, because the time for a comparison is
// proportional to the product of the lengths.
func TestLongWords(t *testing.T) {
	word := strings.Repeat("a", longest)
	if got := Nearest(word, []string{word[1:]}); got != word[1:] {
		t.Errorf("%d letters", len(got))
	}
	if got := Nearest(word+"a", []string{word}); got != "" {
		t.Errorf("%d letters for too many", len(got))
	}
	if got := Nearest(word, []string{word + "a"}); got != "" {
		t.Errorf("%d letters, too many", len(got))
	}
}

func TestOffer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		word  string
		known []string
		want  string
	}{
		{"specc", []string{"spec", "status", "spec"}, "; did you mean spec?"},
		{"nosuch", nil, ""},
		{"nosuch", []string{"b", "a", "b"}, `: want "a", "b"`},
		{"nosuch", []string{"f", "e", "d", "c", "b", "a", "g"}, `: want "a", "b", "c", "d", "e" or 2 more`},
	} {
		if got := SuggestOrList(test.word, test.known); got != test.want {
			t.Errorf("%s among %q: %q, want %q", test.word, test.known, got, test.want)
		}
	}
}

func TestIsTypo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		word, name string
		want       bool
	}{
		{"relpicas", "replicas", true},
		{"replica", "replicas", true},
		{"max_replicas", "maxReplicas", true},
		{"max-replicas", "maxReplicas", true},
		{"minReplicas", "maxReplicas", false},
		{"excludes", "includes", false},
		{"ipv6", "ipv4", false},
		{"httpsPort", "httpPort", false},
		{"gpuLimit", "cpuLimit", false},
		{"region2", "region1", false},
		{"secondaryRegion", "secondary", false},
		{"ac", "ab", false},
		{"storagClass", "storageClass", true},
	} {
		if got := IsTypo(test.word, test.name); got != test.want {
			t.Errorf("%s for %s: %v", test.word, test.name, got)
		}
	}
}

func TestIsContrary(t *testing.T) {
	t.Parallel()
	for pair, want := range map[[2]string]bool{
		{"minReplicas", "maxReplicas"}: true, {"ipv6", "ipv4"}: true, {"excludes", "includes"}: true, {"relpicas", "replicas"}: false, {"mxSize", "maxSize"}: false,
	} {
		if got := IsContrary(pair[0], pair[1]); got != want {
			t.Errorf("%v: %v", pair, got)
		}
	}
}
