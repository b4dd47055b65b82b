package httplimit

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestTurns checks that the limits on number and weight hold, that the lightest waiting request is
// next, and that a canceled request takes no turn.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(2, 100)
		var order []int64
		done := make(chan bool)
		ask := func(weight int64, patience time.Duration) {
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				ok := turns.Take(ctx, weight)
				if ok {
					order = append(order, weight)
				}
				done <- ok
			}()
			synctest.Wait()
		}
		ask(60, time.Hour)
		ask(10, time.Hour)
		<-done
		<-done
		for _, weight := range []int64{50, 20, 1000, 40, 30} {
			ask(weight, time.Hour)
		}
		ask(5, time.Second)
		if <-done {
			t.Error("a third at once")
		}
		turns.End(10)
		<-done // 20
		turns.End(20)
		<-done // 30
		turns.End(60)
		<-done // 40
		turns.End(30)
		<-done // 50
		turns.End(40)
		synctest.Wait()
		if want := []int64{60, 10, 20, 30, 40, 50}; !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
		turns.End(50)
		<-done // heavier than the total weight: runs alone
		turns.End(1000)
		if turns.number != 2 || turns.weight != 100 || len(turns.waiting) != 0 {
			t.Errorf("left: %+v", turns)
		}
	})
}
