package cluster

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/testing/clustertest"
)

func TestExpired(t *testing.T) {
	for name, test := range map[string]struct{ at, next string }{
		"early": {"500", "500"}, "late": {"3000", "3000"},
	} {
		t.Run(name, func(t *testing.T) {
			s := clustertest.Start(t)
			s.Define(t, crdText("things"), 3600, thing)
			failed := false
			s.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if failed || r.URL.Query().Get("continue") != test.at {
					return false
				}
				failed = true
				w.WriteHeader(http.StatusGone)
				fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","metadata":{"continue":%q},"status":"Failure","code":410,"reason":"Expired","message":"too old"}`, test.next)
				return true
			}
			c := opened(t, s, Flags{All: true})
			var warnings []error
			c.Warn = func(err error) { warnings = append(warnings, err) }
			names, errs := read(t.Context(), c, kind(t, "things"))
			if !failed || !slices.Equal(names, all(3600)) || errs != nil {
				t.Errorf("%d objects, %v", len(names), errs)
			}
			if len(warnings) != 1 || !strings.Contains(warnings[0].Error(), "things: the list expired after "+test.at+" objects") {
				t.Errorf("told %v", warnings)
			}
		})
	}
}

func TestBroken(t *testing.T) {
	for name, at := range map[string]string{"first": "", "third": "1000"} {
		for _, head := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s %v", name, head), func(t *testing.T) {
				s := clustertest.Start(t)
				s.Define(t, crdText("things"), 1700, thing)
				from, _ := strconv.Atoi(at)
				s.Before = func(w http.ResponseWriter, r *http.Request) bool {
					if r.URL.Query().Get("continue") != at {
						return false
					}
					if head {
						fmt.Fprintf(w, `{"kind":"ThingList","items":[%s,%s,{"apiVersion"`, thing(from), thing(from+1))
						w.(http.Flusher).Flush()
					}
					panic(http.ErrAbortHandler)
				}
				names, errs := read(t.Context(), opened(t, s, Flags{All: true}), kind(t, "things"))
				if head {
					from += 2
				}
				if !slices.Equal(names, all(from)) || len(errs) != 1 {
					t.Errorf("%d objects, %v", len(names), errs)
				}
			})
		}
	}
}
