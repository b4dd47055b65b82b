//go:build linux

package serve

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/celadon-cel/celadon/internal/testing/level"
)

// A siege is the intensity of an attack. CELADON_LEVEL=long repeats an attack that once stopped a
// server; the default is a short part of it.
type siege struct {
	connections, concurrency int
	// The attack ends after lasts, or when enough honest reviews are answered.
	lasts  time.Duration
	enough int64
}

func newSiege() siege {
	if level.Long() {
		return siege{connections: 300, concurrency: defaultConcurrency, lasts: 20 * time.Second, enough: math.MaxInt64}
	}
	return siege{connections: 24, concurrency: 16, lasts: 30 * time.Second, enough: 40}
}

const honestConnections = 16

// honestPatience is how long honest clients wait for a response. It is long because the machine may be
// busy.
const honestPatience = maxTimeout

// A victim is a celadon serve process with the limits of the example's pods.
type victim struct {
	*serving
	pid        int
	resting    int64
	trust      *tls.Config
	goMemLimit string
}

func startVictim(t *testing.T, a siege, crd string) *victim {
	t.Helper()
	dir := t.TempDir()
	pool := x509.NewCertPool()
	pool.AddCert(writeCertificate(t, dir, "victim"))
	v := &victim{serving: &serving{t: t, log: &logBuffer{}, scheme: "https"}, trust: &tls.Config{RootCAs: pool}, goMemLimit: goMemLimit(t)}
	cmd := exec.Command("celadon", "serve", "--crd", crd, "--listen", "127.0.0.1:0", "--drain", "0s", "--max-concurrent", strconv.Itoa(a.concurrency),
		"--tls-cert", filepath.Join(dir, "tls.crt"), "--tls-key", filepath.Join(dir, "tls.key"))
	cmd.Env = append(os.Environ(), "GOMEMLIMIT="+v.goMemLimit)
	cmd.Stderr = v.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	v.pid = cmd.Process.Pid
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()
	})
	v.await("it serves", func() bool {
		for _, record := range v.log.records("serving") {
			v.address, _ = record["address"].(string)
		}
		return v.address != ""
	})
	v.client = &http.Client{Transport: &http.Transport{TLSClientConfig: v.trust, MaxIdleConnsPerHost: honestConnections, MaxConnsPerHost: honestConnections}, Timeout: 5 * time.Minute}
	v.review("/validate", cronTab(goodSpec)) // the honest clients connect before the attack
	v.resting = v.memory("VmRSS")
	return v
}

func (v *victim) memory(name string) int64 {
	v.t.Helper()
	found := regexp.MustCompile(name + `:\s+(\d+) kB`).FindStringSubmatch(read(v.t, fmt.Sprintf("/proc/%d/status", v.pid)))
	if found == nil {
		v.t.Fatalf("the server has ended: %s", v.log)
	}
	kib, err := strconv.ParseInt(found[1], 10, 64)
	if err != nil {
		v.t.Fatal(err)
	}
	return kib << 10
}

// under sends honest reviews during an attack on each of a.connections connections.
func (v *victim) under(a siege, once func(context.Context)) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.t.Context(), a.lasts)
	defer cancel()
	var running sync.WaitGroup
	for range a.connections {
		running.Go(func() {
			for ctx.Err() == nil {
				once(ctx)
			}
		})
	}
	start := time.Now()
	answers, slowest := v.honest(ctx, a.enough)
	took := time.Since(start)
	cancel()
	running.Wait()
	peak := v.memory("VmHWM")
	v.t.Logf("%d connections for %s: honest reviews were answered %v, the slowest after %s; peak %.0f MiB, resting %.0f MiB",
		a.connections, took.Round(time.Millisecond), answers, slowest.Round(time.Millisecond), mib(uint64(peak)), mib(uint64(v.resting)))
	if answers[http.StatusOK] == 0 || len(answers) > 1 {
		v.t.Errorf("status codes of valid reviews: %v (0 is no response)", answers)
	}
	if soft := resource.MustParse(strings.TrimSuffix(v.goMemLimit, "B")); peak > soft.Value() {
		v.t.Errorf("it took %.0f MiB, beyond the example's GOMEMLIMIT of %s", mib(uint64(peak)), &soft)
	}
}

// over returns an attack that opens one connection. When it ends, for example because the server has closed
// the connection, under starts it again.
func (v *victim) over(attacker func(context.Context, net.Conn)) func(context.Context) {
	return func(ctx context.Context) {
		conn, err := (&tls.Dialer{Config: v.trust}).DialContext(ctx, "tcp", v.address)
		if err != nil {
			return
		}
		defer conn.Close()
		defer context.AfterFunc(ctx, func() { conn.Close() })()
		attacker(ctx, conn)
	}
}

func (v *victim) honest(ctx context.Context, enough int64) (answers map[int]int, slowest time.Duration) {
	answers = map[int]int{}
	var mu sync.Mutex
	var answered atomic.Int64
	var running sync.WaitGroup
	for tick := time.NewTicker(10 * time.Millisecond); ctx.Err() == nil && answered.Load() < enough; <-tick.C {
		running.Go(func() {
			start := time.Now()
			code := v.send()
			answered.Add(1)
			mu.Lock()
			defer mu.Unlock()
			answers[code]++
			slowest = max(slowest, time.Since(start))
		})
	}
	running.Wait()
	return answers, slowest
}

// send sends an honest review and returns the status code, or 0 if there is no response. It tries
// twice, because an idle connection may be closed at any time.
func (v *victim) send() int {
	if code := v.sendOnce(); code != 0 {
		return code
	}
	return v.sendOnce()
}

func (v *victim) sendOnce() int {
	res, err := v.client.Post(v.url("/validate?timeout="+honestPatience.String()), "application/json", strings.NewReader(cronTab(goodSpec)))
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return 0
	}
	return res.StatusCode
}

func reviewHead(length int) string {
	return fmt.Sprintf("POST /validate?timeout=30s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", length)
}

func untilClosed(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

func TestAttackServeHeldBack(t *testing.T) {
	t.Parallel()
	a := newSiege()
	v := startVictim(t, a, exampleD)
	body := strings.Repeat(" ", maxBody-1)
	v.under(a, v.over(func(_ context.Context, conn net.Conn) {
		if _, err := io.WriteString(conn, reviewHead(maxBody)+body); err == nil {
			untilClosed(conn)
		}
	}))
	if code, text := v.post("/validate?timeout=30s", dense(maxValues-100)); code != http.StatusOK {
		t.Errorf("a large one afterwards: %d %.200s", code, text)
	}
	t.Logf("with a large body: peak %.0f MiB", mib(uint64(v.memory("VmHWM"))))
}

func TestAttackServeDrip(t *testing.T) {
	t.Parallel()
	a := newSiege()
	v := startVictim(t, a, exampleD)
	v.under(a, v.over(func(ctx context.Context, conn net.Conn) {
		_, err := io.WriteString(conn, reviewHead(1000))
		for err == nil && ctx.Err() == nil {
			time.Sleep(time.Second)
			_, err = io.WriteString(conn, " ")
		}
	}))
}

func TestAttackServeDense(t *testing.T) {
	t.Parallel()
	a := newSiege()
	v := startVictim(t, a, exampleD)
	large := dense(maxValues - 100)
	v.under(a, v.over(func(_ context.Context, conn net.Conn) {
		if _, err := io.WriteString(conn, reviewHead(len(large))+large); err == nil {
			_, _ = http.ReadResponse(bufio.NewReader(conn), nil)
		}
	}))
}

func TestAttackServeSilence(t *testing.T) {
	t.Parallel()
	a := newSiege()
	a.concurrency = defaultConcurrency
	v := startVictim(t, a, exampleD)
	a.connections = connectionsEach * a.concurrency * 3 / 2
	v.under(a, func(ctx context.Context) {
		conn, err := net.Dial("tcp", v.address)
		if err != nil {
			return
		}
		defer conn.Close()
		defer context.AfterFunc(ctx, func() { conn.Close() })()
		untilClosed(conn)
	})
}

// TestAttackServeFull checks honest reviews while all other connections hold memory without counting as large: an
// incomplete header with many fields, or a long header and a small body without its last byte.
func TestAttackServeFull(t *testing.T) {
	t.Parallel()
	a := newSiege()
	a.connections = connectionsEach*a.concurrency - honestConnections
	v := startVictim(t, a, exampleD)
	var fields strings.Builder
	for i := range (maxHeader - 500) / 5 {
		fmt.Fprintf(&fields, "%x:\n", i+0x100)
	}
	head := reviewHead(smallBody)
	many := strings.TrimSuffix(head, "\r\n") + fields.String()
	pad := strings.Repeat("x", maxHeader-500)
	long := strings.TrimSuffix(head, "\r\n") + "X: " + pad + "\r\n\r\n" + strings.Repeat(" ", smallBody-1)
	var n atomic.Int64
	v.under(a, v.over(func(_ context.Context, conn net.Conn) {
		text := many
		if n.Add(1)%2 == 0 {
			text = long
		}
		if _, err := io.WriteString(conn, text); err == nil {
			untilClosed(conn)
		}
	}))
}
