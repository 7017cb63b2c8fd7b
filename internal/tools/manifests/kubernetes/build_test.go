// Package kubernetes has the tests of deploy/kubernetes. They need no cluster: the
// folders are built as kubectl builds them, every object is decoded as strictly as by the
// API server, and what the objects say about riskdex is compared with riskdex.
package kubernetes

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"riskdex/internal/testkit/require"
)

// The folders for kubectl apply -k.
const (
	base       = "base"
	monitored  = "monitoring"
	example    = "example"
	cluster    = "cluster"
	repository = "../../../.."
	manifests  = repository + "/deploy/kubernetes"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, name))
	require.NoError(t, err)
	return text
}

// strict decodes an object into its own type. It fails for an unknown field, in upper and
// lower case, and for a duplicate one.
func strict(t *testing.T) func(text []byte) (runtime.Object, error) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		apps.AddToScheme, core.AddToScheme, networking.AddToScheme, policy.AddToScheme, monitoring.AddToScheme,
	} {
		require.NoError(t, add(scheme))
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	return func(text []byte) (runtime.Object, error) {
		object, _, err := decoder.Decode(text, nil, nil)
		return object, err
	}
}

// built returns the objects of a folder.
func built(t *testing.T, folder string) []runtime.Object {
	t.Helper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(manifests, folder))
	require.NoError(t, err)
	decode := strict(t)
	var objects []runtime.Object
	for _, resource := range made.Resources() {
		text, err := resource.AsYAML()
		require.NoError(t, err)
		object, err := decode(text)
		if err != nil {
			t.Errorf("%s cannot be decoded: %v", resource.CurId(), err)
			continue
		}
		objects = append(objects, object)
	}
	return objects
}

// all returns the objects of one type.
func all[T runtime.Object](objects []runtime.Object) (found []T) {
	for _, o := range objects {
		if typed, is := o.(T); is {
			found = append(found, typed)
		}
	}
	return found
}

// only returns the single object of a type.
func only[T runtime.Object](t *testing.T, objects []runtime.Object) T {
	t.Helper()
	found := all[T](objects)
	if len(found) != 1 {
		t.Fatalf("there are %d of %T", len(found), *new(T))
	}
	return found[0]
}

// The files are checked before Kustomize rewrites them, because it would remove duplicate
// fields.
func TestEveryFileIsDecodedStrictly(t *testing.T) {
	decode, seen := strict(t), 0
	files, err := filepath.Glob(filepath.Join(manifests, "*", "*.yaml"))
	require.NoError(t, err)
	for _, file := range files {
		if filepath.Base(file) == "kustomization.yaml" {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
			if _, err := decode(document); err != nil {
				t.Errorf("%s cannot be decoded: %v", file, err)
			}
			seen++
		}
	}
	if seen < 11 {
		t.Errorf("only %d objects found", seen)
	}
	if _, err := decode([]byte("apiVersion: v1\nkind: ServiceAccount\nAutomountServiceAccountToken: false")); err == nil {
		t.Error("decoding is not strict")
	}
}

func TestWhatIsBuilt(t *testing.T) {
	want := map[string]int{base: 9, monitored: 12, example: 12, cluster: 12}
	for folder, count := range want {
		objects := built(t, folder)
		if len(objects) != count {
			t.Errorf("%s makes %d objects, want %d", folder, len(objects), count)
		}
	}
}

// A file that no kustomization names is never applied.
func TestEveryFileIsNamed(t *testing.T) {
	for _, folder := range []string{base, monitored, example, cluster} {
		text, err := os.ReadFile(filepath.Join(manifests, folder, "kustomization.yaml"))
		require.NoError(t, err)
		var k types.Kustomization
		require.NoError(t, k.Unmarshal(text)) // strict
		var named, there []string
		for _, name := range k.Resources {
			if !strings.HasPrefix(name, "..") {
				named = append(named, name)
			}
		}
		files, err := os.ReadDir(filepath.Join(manifests, folder))
		require.NoError(t, err)
		for _, f := range files {
			if f.Name() != "kustomization.yaml" {
				there = append(there, f.Name())
			}
		}
		slices.Sort(named)
		if !slices.Equal(named, there) {
			t.Errorf("%s names %q and has %q", folder, named, there)
		}
	}
}
