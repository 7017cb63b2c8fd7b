package kubernetes

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"

	"riskdex/internal/testkit/require"
	"riskdex/journal/postgres"
)

// The processes share PostgreSQL, and nothing is left of the file of a single process.
func TestTheClusterSharesItsJournal(t *testing.T) {
	objects := built(t, cluster)
	set := only[*apps.StatefulSet](t, objects)
	c, pod := container(t, objects)
	if *set.Spec.Replicas < 2 || set.Spec.PodManagementPolicy != apps.ParallelPodManagement || len(set.Spec.VolumeClaimTemplates) != 0 {
		t.Errorf("%d replicas, %s, with %d volumes of their own", *set.Spec.Replicas, set.Spec.PodManagementPolicy, len(set.Spec.VolumeClaimTemplates))
	}
	for _, m := range c.VolumeMounts {
		if !slices.ContainsFunc(pod.Volumes, func(v core.Volume) bool { return v.Name == m.Name }) {
			t.Errorf("%s is mounted and not there", m.Name)
		}
	}
	if file, has := flags(t, c)["journal"]; has {
		t.Errorf("the flag --journal=%s hides the setting", file)
	}
	address := settings(t, objects)["RISKDEX_JOURNAL"]
	u, err := url.Parse(address)
	require.NoError(t, err)
	if _, has := u.User.Password(); has || !postgres.IsURL(address) || u.Query().Get("sslmode") == "" {
		t.Errorf("the journal is %s", address)
	}
	open := slices.ContainsFunc(all[*networking.NetworkPolicy](objects), func(p *networking.NetworkPolicy) bool {
		return slices.ContainsFunc(p.Spec.Egress, func(rule networking.NetworkPolicyEgressRule) bool {
			return len(rule.To) == 1 && peers(rule.To) == strings.Split(u.Hostname(), ".")[1] && len(rule.Ports) == 1 && rule.Ports[0].Port.String() == u.Port()
		})
	})
	if !open {
		t.Errorf("the network policy blocks %s", u.Host)
	}
	if budget := only[*policy.PodDisruptionBudget](t, objects); budget.Spec.MaxUnavailable.IntValue() >= int(*set.Spec.Replicas) {
		t.Errorf("a drain may take all %d away: %v", *set.Spec.Replicas, budget.Spec.MaxUnavailable)
	}
	spread := pod.TopologySpreadConstraints
	if len(spread) != 1 || spread[0].LabelSelector.MatchLabels["app.kubernetes.io/name"] != set.Spec.Template.Labels["app.kubernetes.io/name"] {
		t.Errorf("they are spread by %+v", spread)
	}
}

// A missing password must keep riskdex from starting, with a visible reason.
func TestThePasswordOfTheJournalIsASecret(t *testing.T) {
	c, _ := container(t, built(t, cluster))
	i := slices.IndexFunc(c.Env, func(e core.EnvVar) bool { return e.Name == "PGPASSWORD" })
	if i < 0 || c.Env[i].Value != "" || c.Env[i].ValueFrom.SecretKeyRef == nil || c.Env[i].ValueFrom.SecretKeyRef.Optional != nil {
		t.Fatalf("the environment is %+v", c.Env)
	}
	secret := c.Env[i].ValueFrom.SecretKeyRef
	// As README.md tells operators to make it.
	if want := "create secret generic " + secret.Name + " --from-file=" + secret.Key; !strings.Contains(string(read(t, "deploy/kubernetes/README.md")), want) {
		t.Errorf("README.md does not say %q", want)
	}
}
