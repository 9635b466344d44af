package main

import (
	"fmt"
	"maps"
	"sort"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// tally is what happened to one object.
type tally struct{ adds, updates, deletes int }

// ledger writes down what the handlers of one informer are told, and what they must never be told.
type ledger struct {
	name     string
	lock     sync.Mutex
	tallies  map[string]tally
	versions map[string]int64 // of the objects that are there
	wrong    []string
}

func newLedger(name string) *ledger {
	return &ledger{name: name, tallies: map[string]tally{}, versions: map[string]int64{}}
}

func identify(object any) (string, int64, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return "", 0, err
	}
	version, err := strconv.ParseInt(accessor.GetResourceVersion(), 10, 64)
	return accessor.GetName(), version, err
}

func (l *ledger) handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { l.note(object, l.added) },
		UpdateFunc: func(old, object any) {
			_, before, _ := identify(old)
			l.note(object, func(name string, version int64) { l.updated(name, before, version) })
		},
		DeleteFunc: func(object any) {
			if unknown, missed := object.(cache.DeletedFinalStateUnknown); missed {
				object = unknown.Obj
			}
			l.note(object, l.deleted)
		},
	}
}

func (l *ledger) note(object any, write func(string, int64)) {
	name, version, err := identify(object)
	l.lock.Lock()
	defer l.lock.Unlock()
	if err != nil {
		l.complain("an object without name or version: %v", err)
		return
	}
	write(name, version)
}

func (l *ledger) complain(format string, arguments ...any) {
	l.wrong = append(l.wrong, l.name+": "+fmt.Sprintf(format, arguments...))
}

func (l *ledger) added(name string, version int64) {
	if _, there := l.versions[name]; there {
		l.complain("%s was added although it is there", name)
	}
	l.versions[name] = version
	t := l.tallies[name]
	t.adds++
	l.tallies[name] = t
}

func (l *ledger) updated(name string, before, version int64) {
	known, there := l.versions[name]
	if !there || known != before {
		l.complain("%s changed from version %d, it was last seen at %d", name, before, known)
	}
	if version < before {
		l.complain("%s went back from version %d to %d", name, before, version)
	}
	if version == before {
		return // a fresh list repeats what has not changed
	}
	l.versions[name] = version
	t := l.tallies[name]
	t.updates++
	l.tallies[name] = t
}

func (l *ledger) deleted(name string, _ int64) {
	if _, there := l.versions[name]; !there {
		l.complain("%s was deleted although it is not there", name)
	}
	delete(l.versions, name)
	t := l.tallies[name]
	t.deletes++
	l.tallies[name] = t
}

func (l *ledger) complaints() []string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return append([]string(nil), l.wrong...)
}

// compare says how the tallies differ from the expected ones; with `loosely`, updates may have been merged into fewer.
func (l *ledger) compare(expected map[string]tally, loosely bool) error {
	l.lock.Lock()
	defer l.lock.Unlock()
	var different []string
	for name := range union(expected, l.tallies) {
		want, got := expected[name], l.tallies[name]
		merged := loosely && got.adds == want.adds && got.deletes == want.deletes && got.updates <= want.updates
		if want != got && !merged {
			different = append(different, fmt.Sprintf("%s %+v instead of %+v", name, got, want))
		}
	}
	if len(different) == 0 {
		return nil
	}
	sort.Strings(different)
	return fmt.Errorf("%s: %d objects differ: %v", l.name, len(different), different[:min(5, len(different))])
}

// forgive counts updates that were merged as if they had been told one by one.
func (l *ledger) forgive(expected map[string]tally) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.tallies = maps.Clone(expected)
}

func union(a, b map[string]tally) map[string]struct{} {
	names := map[string]struct{}{}
	for name := range a {
		names[name] = struct{}{}
	}
	for name := range b {
		names[name] = struct{}{}
	}
	return names
}
