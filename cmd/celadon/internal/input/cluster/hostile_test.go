package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/testing/clustertest"
)

var hostile = []struct {
	name, want string
	answer     func(w http.ResponseWriter, r *http.Request)
}{
	{"an endless object", "more than 8 MiB for one object", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"items":[{"a":"`)
		endless(w, strings.Repeat("x", 1<<16))
	}},
	{"endless blanks", "more than 8 MiB", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"items":[`)
		endless(w, strings.Repeat(" ", 1<<16))
	}},
	{"endless fields", "is not a list", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"a":1`)
		endless(w, strings.Repeat(`,"a":1`, 1000))
	}},
	{"an endless token", "more than 8 MiB", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"metadata":{"continue":"`)
		endless(w, strings.Repeat("x", 1<<16))
	}},
	{"the same page again", "the same page repeatedly", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"items":[%s],"metadata":{"continue":"a"}}`, thing(1))
	}},
	{"empty pages", "the list does not end: 100 requests returned 0 objects", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"items":[],"metadata":{"continue":"%sa"}}`, r.URL.Query().Get("continue"))
	}},
	{"an endless page", "the server sent more than the 500 requested objects", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"items":[%s`, thing(0))
		for i := 1; ; i++ {
			if _, err := fmt.Fprint(w, ",", thing(i)); err != nil {
				return
			}
		}
	}},
	{"endless pages of one object", "the list does not end: 102 requests returned 102 objects", func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		fmt.Fprintf(w, `{"items":[%s],"metadata":{"continue":"%d"}}`, thing(from), from+1)
	}},
	{"expired after each object", "the list does not end: 101 requests returned 51 objects", func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		if from%2 == 1 {
			w.WriteHeader(http.StatusGone)
			fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","metadata":{"continue":"%d"},"status":"Failure","code":410,"reason":"Expired","message":"too old"}`, from+1)
			return
		}
		fmt.Fprintf(w, `{"items":[%s],"metadata":{"continue":"%d"}}`, thing(from), from+1)
	}},
	{"always gone", "too old", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("continue") == "" {
			fmt.Fprint(w, `{"items":[],"metadata":{"continue":"a"}}`)
			return
		}
		clustertest.Fail(w, 410, "Expired", "too old")
	}},
	{"always cut off", "the list broke off", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"items":[`) }},
	{"an endless error", "", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(500)
		endless(w, strings.Repeat("x", 1<<16))
	}},
	{"no hurry", "busy", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1000000")
		clustertest.Fail(w, 429, "TooManyRequests", "busy")
	}},
	{"elsewhere", "an API server does not", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
	}},
	{"no list", "is not a list", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `[]`) }},
	{"no JSON", "is not a list", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `<html>`) }},
	{"nested", "", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"items":[`+strings.Repeat("[", 1<<20))
	}},
	{"another kind", "response has kind Secret of v1: want Thing of g.io/v1", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"items":[{"apiVersion":"v1","kind":"Secret","metadata":{"name":"../../etc/passwd"}}]}`)
	}},
	{"an empty object", "is not a list", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) }},
	{"a failure that is said to be good", "is not a list", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"kind":"Status","items":[]}`)
	}},
	{"null", "is not an object", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"items":[null]}`) }},
	{"many values", "more than 1048576 values", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"items":[{"a":[1%s]}]}`, strings.Repeat(",1", 2<<20))
	}},
}

func endless(w io.Writer, text string) {
	for range 1 << 14 { // 1 GiB
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
	}
}

func TestHostile(t *testing.T) {
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			s := clustertest.Start(t)
			s.Before = func(w http.ResponseWriter, r *http.Request) bool { h.answer(w, r); return true }
			c := opened(t, s, Flags{All: true})
			_, errs := read(t.Context(), c, kind(t, "things"))
			if len(errs) != 1 || !strings.Contains(errs[0].Error(), h.want) {
				t.Errorf("%v", errs)
			}
			if len(errs) > 0 && len(errs[0].Error()) > 2*maxStatus {
				t.Errorf("an error of %d bytes", len(errs[0].Error()))
			}
		})
	}
}

func TestHostileNames(t *testing.T) {
	t.Parallel()
	for _, crd := range []string{
		`{"metadata":{"name":"../../api/v1/secrets"},"spec":{"group":"g.io","names":{"plural":"../../api/v1/secrets"}}}`,
		`{"metadata":{"name":"secrets.."},"spec":{"group":".","names":{"plural":"secrets"}}}`,
		`{"metadata":{"name":"a.g.io"},"spec":{"group":"g.io","names":{"plural":"b"}}}`,
		`{"metadata":{"name":"a/b.g.io"},"spec":{"group":"g.io","names":{"plural":"a/b"}}}`,
		`{"metadata":{"name":"a?x=y.g.io"},"spec":{"group":"g.io","names":{"plural":"a?x=y"}}}`,
		`{"metadata":{"name":"a.g.io"},"spec":{"group":"g.io","names":{"plural":"a"},"versions":[{"name":"../v1","served":true,"storage":true}]}}`,
		`{"metadata":{"name":""},"spec":{"names":{}}}`,
	} {
		var def apiextensionsv1.CustomResourceDefinition
		if err := json.Unmarshal([]byte(crd), &def); err != nil {
			t.Fatal(err)
		}
		if len(def.Spec.Versions) == 0 {
			def.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true}}
		}
		if k, err := KindOf(&def); err == nil {
			t.Errorf("%s is read at %v", crd, k.path("n"))
		}
	}
}

func TestSlow(t *testing.T) {
	drip := func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"items":[`)
		for r.Context().Err() == nil {
			fmt.Fprint(w, " ")
			w.(http.Flusher).Flush()
			time.Sleep(10 * time.Millisecond)
		}
	}
	for name, test := range map[string]struct {
		answer            func(http.ResponseWriter, *http.Request)
		silence, slowness time.Duration
		want              error
	}{
		"no head": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 50 * time.Millisecond, time.Hour, errSilent},
		"no more": {func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, `{"items":[`)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, 50 * time.Millisecond, time.Hour, errSilent},
		"drip": {drip, time.Hour, 100 * time.Millisecond, errSlow},
	} {
		t.Run(name, func(t *testing.T) {
			s := clustertest.Start(t)
			s.Before = func(w http.ResponseWriter, r *http.Request) bool { test.answer(w, r); return true }
			t.Setenv("KUBECONFIG", s.Kubeconfig(t))
			c, err := (&Flags{All: true}).Open()
			if err != nil {
				t.Fatal(err)
			}
			c.silence, c.slowness = test.silence, test.slowness
			if _, errs := read(t.Context(), c, kind(t, "things")); len(errs) != 1 || !errors.Is(errs[0], test.want) && !strings.Contains(errs[0].Error(), test.want.Error()) {
				t.Errorf("%v, want %v", errs, test.want)
			}
		})
	}
}

func TestLargePage(t *testing.T) {
	t.Parallel()
	two := fmt.Sprintf(`{"items":[%s,%s]}`, thing(1), thing(2))
	for _, c := range []struct {
		maxItems int
		maxBytes int64
		want     string
	}{
		{2, int64(len(two)), ""},
		{1, int64(len(two)), "more than the 1 requested objects"},
		{2, int64(len(two)) - 1, "a page that is too large: more than "},
	} {
		_, err := readPage(iotest.OneByteReader(strings.NewReader(two)), c.maxItems, c.maxBytes, func([]byte) error { return nil })
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d items, %d bytes: got %v, want %q", c.maxItems, c.maxBytes, err, c.want)
		}
	}
}

func TestEndless(t *testing.T) {
	s := clustertest.Start(t)
	for _, name := range []string{"same", "growing"} {
		s.Before = func(w http.ResponseWriter, r *http.Request) bool {
			from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
			things := make([]string, pageSize)
			for i := range things {
				things[i] = thing(0)
				if name == "growing" {
					things[i] = thing(from + i)
				}
			}
			fmt.Fprintf(w, `{"items":[%s],"metadata":{"continue":"%d"}}`, strings.Join(things, ","), from+pageSize)
			return true
		}
		c := opened(t, s, Flags{All: true})
		l := listing{client: c, path: []string{"apis"}, bounds: bounds{objects: 2000, bytes: 1 << 20}, each: func([]byte) error { return nil }}
		if err := l.list(t.Context(), func() {}); !errors.Is(err, errEndless) {
			t.Errorf("%s: %v", name, err)
		}
		crds, failed := c.CRDs(t.Context(), nil)
		n := 0
		crds(func() {}, func(input.Chunk) bool { n++; return true })
		if !errors.Is(failed(), errEndless) || n > crdBounds.objects {
			t.Errorf("%s: %d CRDs, %v", name, n, failed())
		}
	}
}
