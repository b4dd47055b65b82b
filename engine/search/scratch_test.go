package search

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/corpus"
)

var (
	every  = flag.Int("every", 1, "")
	offset = flag.Int("offset", 0, "")
	held   = flag.Bool("held", false, "")
	only   = flag.String("only", "", "")
	want   = flag.String("want", "refused", "")
	show   = flag.Bool("show", false, "")
	rx     = flag.String("rx", "", "")
	steps  = flag.Int("steps", 0, "")
)

var aside = []string{"argo-workflows", "cert-manager", "crossplane", "kuadrant-operator", "grafana-operator", "mongodb-atlas-kubernetes", "tetragon", "cilium", "kubeflow-trainer", "postgres-operator"}

func TestScratch(t *testing.T) {
	seen := map[string]bool{}
	n, found, alone, fast, ms10, unserved, na := 0, 0, 0, 0, 0, 0, 0
	var times []time.Duration
	var sizes []int
	var asked int
	for _, file := range corpus.CRDFiles(t) {
		project := filepath.Base(filepath.Dir(file))
		if slices.Contains(aside, project) != *held || *only != "" && !strings.Contains(file, *only) {
			continue
		}
		crd := corpus.ReadCRD(t, file)
		e, err := engine.Compile(crd, engine.Config{})
		if e == nil {
			t.Log(file, err)
			continue
		}
		for _, v := range e.Served() {
			s, err := New(crd, e, v, Config{Steps: *steps})
			if err != nil {
				t.Fatal(err)
			}
			for _, ref := range s.Rules() {
				if *rx != "" && !strings.Contains(ref.Path+" "+ref.Rule, *rx) {
					continue
				}
				if seen[ref.Rule] {
					continue
				}
				seen[ref.Rule] = true
				if len(seen)%*every != *offset {
					continue
				}
				n++
				begin := cpu()
				a, err := s.Find(context.Background(), ref, Want(*want))
				took := cpu() - begin
				if err != nil {
					t.Errorf("%s %s %s: %v", file, ref.Path, ref.Rule, err)
					continue
				}
				times = append(times, took)
				asked += a.Searched
				switch {
				case a.Status == Found:
					found++
					if a.Witness.Alone {
						alone++
						if took < time.Second {
							fast++
						}
						if took < 10*time.Millisecond {
							ms10++
						}
					}
					data, _ := json.Marshal(a.Witness.Object)
					size := len(data)
					if a.Witness.Old != nil {
						old, _ := json.Marshal(a.Witness.Old)
						data = append(append(data, " <- "...), old...)
					}
					sizes = append(sizes, size)
					if *show {
						fmt.Printf("FOUND %v %d %s %s %q\n   %s %s\n", took.Round(time.Millisecond), a.Searched, project, ref.Path, ref.Rule, a.Witness.Operation, data)
					}
				case a.Status == NotAnalysed:
					na++
				case a.Status == Unserved:
					unserved++
				}
				if a.Status != Found || !a.Witness.Alone || took > time.Second {
					fmt.Printf("MISS %v %s %v %d %s:%s %s %q\n", a.Status, a.Reason, took.Round(time.Millisecond), a.Searched, project, filepath.Base(file), ref.Path, ref.Rule)
				}
			}
		}
	}
	if n == 0 {
		return
	}
	slices.Sort(times)
	slices.Sort(sizes)
	fmt.Printf("rules %d found %.1f%% alone %.1f%% alone1s %.1f%% 10ms %.1f%% unserved %d notanalysed %d asked/rule %d\n", n, pc(found, n), pc(alone, n), pc(fast, n), pc(ms10, n), unserved, na, asked/n)
	fmt.Printf("time median %v p90 %v max %v size median %d\n", times[n/2], times[n*9/10], times[n-1], sizes[len(sizes)/2])
}

func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func pc(a, b int) float64 { return 100 * float64(a) / float64(b) }

func TestSample(t *testing.T) {
	n, ok := 0, 0
	for _, file := range corpus.CRDFiles(t) {
		if *only != "" && !strings.Contains(file, *only) {
			continue
		}
		if n++; n%*every != 0 {
			continue
		}
		crd := corpus.ReadCRD(t, file)
		e, _ := engine.Compile(crd, engine.Config{})
		if e == nil {
			continue
		}
		for _, full := range []bool{false, true} {
			s, err := New(crd, e, "", Config{})
			if err != nil {
				t.Fatal(err)
			}
			begin := cpu()
			a, err := s.Sample(context.Background(), full)
			if err != nil {
				t.Fatal(err)
			}
			if a.Status == Found {
				ok++
				data, _ := json.Marshal(a.Witness.Object)
				fmt.Printf("%v %s %v %v %d bytes %.200s\n", a.Status, filepath.Base(file), full, cpu()-begin, len(data), data)
			} else {
				fmt.Printf("%v %s %v %v %d\n", a.Status, filepath.Base(file), full, cpu()-begin, a.Searched)
			}
		}
	}
	fmt.Println(n, ok)
}
