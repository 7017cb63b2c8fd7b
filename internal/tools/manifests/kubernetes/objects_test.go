package kubernetes

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"riskdex/internal/testkit/require"
)

// visitor returns the pod for backups, and restorer the one that restores them.
func visitor(t *testing.T) *core.Pod  { return podOf(t, "visitor/pod.yaml") }
func restorer(t *testing.T) *core.Pod { return podOf(t, "visitor/restore.yaml") }

func podOf(t *testing.T, file string) *core.Pod {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(manifests, file))
	require.NoError(t, err)
	object, err := strict(t)(text)
	require.NoError(t, err)
	return object.(*core.Pod)
}

// The namespace admits no pod that asks for more privileges than this.
func TestPodsAskForNothing(t *testing.T) {
	objects := built(t, base)
	if level := only[*core.Namespace](t, objects).Labels["pod-security.kubernetes.io/enforce"]; level != "restricted" {
		t.Errorf("the namespace admits %q", level)
	}
	_, pod := container(t, objects)
	for name, pod := range map[string]core.PodSpec{"riskdex": pod, "visitor": visitor(t).Spec, "restore": restorer(t).Spec} {
		s := pod.SecurityContext
		if s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.SeccompProfile == nil || s.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
			t.Errorf("%s has the security context %+v", name, s)
		}
		if pod.HostNetwork || pod.HostPID || pod.HostIPC || pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken ||
			pod.EnableServiceLinks == nil || *pod.EnableServiceLinks {
			t.Errorf("%s has a part of its node, a token, or the addresses of services", name)
		}
		for _, c := range pod.Containers {
			s := c.SecurityContext
			if s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem ||
				s.Capabilities == nil || len(s.Capabilities.Add) > 0 || !slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) || s.Privileged != nil {
				t.Errorf("a container of %s has the security context %+v", name, s)
			}
			if c.Resources.Limits.Memory().IsZero() {
				t.Errorf("%s has no limit of memory", name)
			}
			if !regexp.MustCompile(`^(riskdex:dev|[a-z]+:\d+\.\d+\.\d+@sha256:[0-9a-f]{64})$`).MatchString(c.Image) {
				t.Errorf("%s has the image %s", name, c.Image)
			}
		}
	}
	if account := only[*core.ServiceAccount](t, objects); account.Name != pod.ServiceAccountName || account.AutomountServiceAccountToken == nil || *account.AutomountServiceAccountToken {
		t.Errorf("the pod's account is %q, there is %+v", pod.ServiceAccountName, account)
	}
}

// One process writes the journal, and nothing deletes it.
func TestTheJournalIsOneAndKept(t *testing.T) {
	set := only[*apps.StatefulSet](t, built(t, base))
	if *set.Spec.Replicas != 1 {
		t.Errorf("there are %d replicas", *set.Spec.Replicas)
	}
	claims := set.Spec.VolumeClaimTemplates
	if len(claims) != 1 || claims[0].Name != "journal" || !slices.Equal(claims[0].Spec.AccessModes, []core.PersistentVolumeAccessMode{core.ReadWriteOnce}) {
		t.Fatalf("the claims are %+v", claims)
	}
	if keep := set.Spec.PersistentVolumeClaimRetentionPolicy; keep == nil ||
		keep.WhenDeleted != apps.RetainPersistentVolumeClaimRetentionPolicyType || keep.WhenScaled != apps.RetainPersistentVolumeClaimRetentionPolicyType {
		t.Errorf("the volume claims are not retained: %+v", keep)
	}
	for _, pod := range []*core.Pod{visitor(t), restorer(t)} {
		if got := pod.Spec.Volumes[0].PersistentVolumeClaim.ClaimName; got != claims[0].Name+"-"+set.Name+"-0" || pod.Namespace != set.Namespace {
			t.Errorf("the pod %s has the claim %s of %s", pod.Name, got, pod.Namespace)
		}
	}
	c, _ := container(t, built(t, base))
	if args := restorer(t).Spec.Containers[0].Args; args[0] != "restore" || !slices.Contains(args, "--journal="+flags(t, c)["journal"]) {
		t.Errorf("what is restored is %q", args)
	}
}

// A missing secret must keep riskdex from starting, rather than let everybody in.
func TestTheTokensAreMounted(t *testing.T) {
	c, pod := container(t, built(t, base))
	wantMounted(t, c, pod, flags(t, c)["bearer-file"], "=")
	i := slices.IndexFunc(c.Env, func(e core.EnvVar) bool { return e.Name == "RISKDEX_ADMIN_TOKEN_FILE" })
	if i < 0 {
		t.Fatal("the commands in the pod do not know the token")
	}
	wantMounted(t, c, pod, c.Env[i].Value, "")
	in := settings(t, built(t, base))
	wantMounted(t, c, pod, in["ELASTICSEARCH_API_KEY_FILE"], " --from-file="+path.Base(in["ELASTICSEARCH_CA_FILE"]))
	if path.Dir(in["ELASTICSEARCH_CA_FILE"]) != path.Dir(in["ELASTICSEARCH_API_KEY_FILE"]) {
		t.Errorf("the authority is %s", in["ELASTICSEARCH_CA_FILE"])
	}
	if !strings.HasPrefix(in["ELASTICSEARCH_URL"], "https://") {
		t.Errorf("Elasticsearch is asked at %s", in["ELASTICSEARCH_URL"])
	}
	credentials := only[*monitoring.ServiceMonitor](t, built(t, monitored)).Spec.Endpoints[0].Authorization.Credentials
	if credentials.Name != "riskdex-admin" || credentials.Key != path.Base(c.Env[i].Value) {
		t.Errorf("Prometheus shows %+v", credentials)
	}
}

// wantMounted checks that a secret is mounted as a file, and that README.md says how to
// make it.
func wantMounted(t *testing.T, c core.Container, pod core.PodSpec, file, how string) {
	t.Helper()
	i := slices.IndexFunc(c.VolumeMounts, func(m core.VolumeMount) bool { return m.MountPath == path.Dir(file) })
	if i < 0 {
		t.Fatalf("nothing is mounted for %s", file)
	}
	if m := c.VolumeMounts[i]; m.SubPath != "" || !m.ReadOnly {
		t.Errorf("it is mounted %+v", m)
	}
	v := slices.IndexFunc(pod.Volumes, func(v core.Volume) bool { return v.Name == c.VolumeMounts[i].Name })
	if v < 0 || pod.Volumes[v].Secret == nil || pod.Volumes[v].Secret.Optional != nil || *pod.Volumes[v].Secret.DefaultMode != 0o440 {
		t.Fatalf("%s comes from %+v", file, pod.Volumes)
	}
	// As README.md tells operators to make it.
	want := "create secret generic " + pod.Volumes[v].Secret.SecretName + " --from-file=" + path.Base(file) + how
	if !strings.Contains(string(read(t, "deploy/kubernetes/README.md")), want) {
		t.Errorf("README.md does not say %q", want)
	}
}

func TestServicesAndBudgetFindThePod(t *testing.T) {
	objects := built(t, monitored)
	set := only[*apps.StatefulSet](t, objects)
	c, _ := container(t, objects)
	pod := labels.Set(set.Spec.Template.Labels)
	found := func(what string, s *meta.LabelSelector) {
		selector, err := meta.LabelSelectorAsSelector(s)
		require.NoError(t, err)
		if selector.Empty() || !selector.Matches(pod) {
			t.Errorf("%s does not select the pod: %v", what, selector)
		}
	}
	found("the StatefulSet", set.Spec.Selector)
	governs := false
	monitor := only[*monitoring.ServiceMonitor](t, objects)
	selector, err := meta.LabelSelectorAsSelector(&monitor.Spec.Selector)
	require.NoError(t, err)
	var scraped []string
	for _, s := range all[*core.Service](objects) {
		found("the service "+s.Name, &meta.LabelSelector{MatchLabels: s.Spec.Selector})
		governs = governs || s.Name == set.Spec.ServiceName && s.Spec.ClusterIP == core.ClusterIPNone
		for _, p := range s.Spec.Ports {
			containerPort(t, c, p.TargetPort.StrVal)
			if selector.Matches(labels.Set(s.Labels)) && p.Name == monitor.Spec.Endpoints[0].Port {
				scraped = append(scraped, s.Name)
			}
		}
	}
	if !governs {
		t.Errorf("no headless service is called %s", set.Spec.ServiceName)
	}
	// The job is named after the service, and the alerts use that name.
	if len(scraped) != 1 || !strings.Contains(scraped[0], "riskdex") || monitor.Spec.JobLabel != "" {
		t.Errorf("Prometheus scrapes %q", scraped)
	}
	budget := only[*policy.PodDisruptionBudget](t, objects)
	found("the budget", budget.Spec.Selector)
	if budget.Spec.MinAvailable != nil || *budget.Spec.MaxUnavailable != intstr.FromInt32(*set.Spec.Replicas) {
		t.Errorf("the disruption budget would block a drain: %+v", budget.Spec)
	}
}

func TestTheNetworkIsClosedButForWhatIsNeeded(t *testing.T) {
	objects := built(t, base)
	c, _ := container(t, objects)
	pod := labels.Set(only[*apps.StatefulSet](t, objects).Spec.Template.Labels)
	closed, open := false, []string{}
	for _, p := range all[*networking.NetworkPolicy](objects) {
		if len(p.Spec.PolicyTypes) != 2 {
			t.Errorf("%s is about %v", p.Name, p.Spec.PolicyTypes)
		}
		if len(p.Spec.Ingress)+len(p.Spec.Egress) == 0 {
			closed = closed || len(p.Spec.PodSelector.MatchLabels) == 0
			continue
		}
		if selector, err := meta.LabelSelectorAsSelector(&p.Spec.PodSelector); err != nil || selector.Empty() || !selector.Matches(pod) {
			t.Errorf("%s is not about riskdex: %v", p.Name, err)
		}
		for _, rule := range p.Spec.Ingress {
			for _, port := range rule.Ports {
				containerPort(t, c, port.Port.StrVal)
				open = append(open, "from "+peers(rule.From)+" to "+port.Port.String())
			}
		}
		for _, rule := range p.Spec.Egress {
			for _, port := range rule.Ports {
				open = append(open, "to "+peers(rule.To)+" at "+port.Port.String())
			}
		}
	}
	slices.Sort(open)
	address, err := url.Parse(settings(t, objects)["ELASTICSEARCH_URL"])
	require.NoError(t, err)
	want := []string{
		"from ingress-nginx to deliveries", "from monitoring,pods to admin", "to monitoring at 4318", "to kube-system at 53", "to kube-system at 53",
		// HOST.NAMESPACE.svc
		"to " + strings.Split(address.Hostname(), ".")[1] + " at " + address.Port(),
	}
	slices.Sort(want)
	if !closed || !slices.Equal(open, want) {
		t.Errorf("closed otherwise is %v, open is\n%q, want\n%q", closed, open, want)
	}
}

// peers names the namespaces that have access, and "pods" for pods of the same one. An
// empty list would mean everybody.
func peers(list []networking.NetworkPolicyPeer) string {
	var names []string
	for _, p := range list {
		switch {
		case p.NamespaceSelector != nil && len(p.NamespaceSelector.MatchLabels) > 0:
			names = append(names, p.NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"])
		case p.NamespaceSelector == nil && p.PodSelector != nil && len(p.PodSelector.MatchLabels) > 0:
			names = append(names, "pods")
		default:
			names = append(names, "everybody")
		}
	}
	if len(names) == 0 {
		return "everybody"
	}
	return strings.Join(names, ",")
}

func TestRulesAndDashboardAreThoseOfTheRepository(t *testing.T) {
	var rules, there struct {
		Groups any `json:"groups"`
		Spec   any `json:"spec"`
	}
	require.NoError(t, yaml.UnmarshalStrict(read(t, "dashboards/rules.yml"), &rules))
	require.NoError(t, yaml.Unmarshal(read(t, "deploy/kubernetes/monitoring/prometheusrule.yaml"), &there))
	if rules.Groups == nil || !reflect.DeepEqual(there.Spec, map[string]any{"groups": rules.Groups}) {
		t.Error("the rules differ from dashboards/rules.yml: make kubernetes")
	}
	objects := built(t, monitored)
	boards := 0
	for _, m := range all[*core.ConfigMap](objects) {
		if m.Labels["grafana_dashboard"] == "1" {
			boards++
			if m.Data["riskdex.json"] != string(read(t, "dashboards/riskdex.json")) {
				t.Error("the dashboard is another one")
			}
			if len(m.Data["riskdex.json"]) > 1<<20 {
				t.Errorf("the dashboard has %d bytes, and a ConfigMap may have 1 MiB", len(m.Data["riskdex.json"]))
			}
		}
	}
	if boards != 1 {
		t.Errorf("there are %d dashboards", boards)
	}
	var prometheus struct {
		Global struct {
			Interval monitoring.Duration `json:"scrape_interval"`
		} `json:"global"`
	}
	require.NoError(t, yaml.Unmarshal(read(t, "dashboards/prometheus.yml"), &prometheus))
	if got := only[*monitoring.ServiceMonitor](t, objects).Spec.Endpoints[0].Interval; got != prometheus.Global.Interval {
		t.Errorf("it is scraped every %s, and with Compose every %s", got, prometheus.Global.Interval)
	}
}

// The example changes what it is meant to change.
func TestTheExample(t *testing.T) {
	objects := built(t, example)
	set := only[*apps.StatefulSet](t, objects)
	c, _ := container(t, objects)
	if !strings.HasPrefix(c.Image, "registry.example.org/") || set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage().String() != "50Gi" {
		t.Errorf("the image is %s, the claim %+v", c.Image, set.Spec.VolumeClaimTemplates[0].Spec.Resources)
	}
	got := settings(t, objects)
	if got["RISKDEX_PREFIX"] == "" || got["RISKDEX_LOG_FORMAT"] == "" || got["ELASTICSEARCH_URL"] == settings(t, built(t, base))["ELASTICSEARCH_URL"] {
		t.Errorf("the settings are %v", got)
	}
	if only[*monitoring.PrometheusRule](t, objects).Labels["release"] == "" || only[*monitoring.ServiceMonitor](t, objects).Labels["release"] == "" {
		t.Error("the operator does not find rules and monitor")
	}
}
