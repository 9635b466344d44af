package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// madeBy is the label that `delete` looks for.
	madeBy         = "load.codeflare.dev/index"
	podsPerCluster = 8
	image          = "registry.example/ray:2.60.0-py311"
)

// epoch stands for "now" in everything that is written, so that runs do not differ.
var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

func podName(index int) string { return fmt.Sprintf("load-%06d", index) }

// stream is the random source of one pod: independent of the order in which pods are made.
func stream(seed uint64, index int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(index))) }

func hex(random *rand.Rand) string {
	return fmt.Sprintf("%016x%016x%016x%016x", random.Uint64(), random.Uint64(), random.Uint64(), random.Uint64())
}

// newPod is a Ray worker as an operator writes it: what a large cluster of training work is made of.
func newPod(seed uint64, index int) *corev1.Pod {
	random := stream(seed, index)
	cluster := fmt.Sprintf("train-%05d", index/podsPerCluster)
	group := []string{"small-gpu", "large-gpu", "cpu"}[random.IntN(3)]
	resources := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse([]string{"500m", "2", "8"}[random.IntN(3)]),
		corev1.ResourceMemory: resource.MustParse([]string{"4Gi", "16Gi", "64Gi"}[random.IntN(3)]),
	}
	fromField := func(name, field string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: field}}}
	}
	no := false
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: podName(index),
			Labels: map[string]string{
				madeBy:                         fmt.Sprint(index),
				"app.kubernetes.io/created-by": "kuberay-operator",
				"app.kubernetes.io/name":       "kuberay",
				"ray.io/cluster":               cluster,
				"ray.io/group":                 group,
				"ray.io/node-type":             "worker",
			},
			Annotations: map[string]string{
				"ray.io/ft-enabled":     "false",
				"codeflare.dev/user":    fmt.Sprintf("user-%03d", random.IntN(200)),
				"codeflare.dev/request": hex(random),
			},
		},
		Spec: corev1.PodSpec{
			NodeName:                     fmt.Sprintf("node-%04d", random.IntN(500)),
			RestartPolicy:                corev1.RestartPolicyNever,
			AutomountServiceAccountToken: &no,
			Containers: []corev1.Container{{
				Name:    "ray-worker",
				Image:   image,
				Command: []string{"/bin/bash", "-lc", "--"},
				Args:    []string{"ulimit -n 65536; ray start --address=" + cluster + "-head-svc:6379 --block"},
				Env: []corev1.EnvVar{
					{Name: "FQ_RAY_IP", Value: cluster + "-head-svc.default.svc.cluster.local"},
					{Name: "RAY_ADDRESS", Value: cluster + "-head-svc:6379"},
					{Name: "RAY_PORT", Value: "6379"},
					{Name: "RAY_USAGE_STATS_ENABLED", Value: "0"},
					fromField("POD_NAME", "metadata.name"),
					fromField("POD_IP", "status.podIP"),
				},
				Ports:     []corev1.ContainerPort{{Name: "metrics", ContainerPort: 8080}},
				Resources: corev1.ResourceRequirements{Requests: resources, Limits: resources},
				VolumeMounts: []corev1.VolumeMount{
					{Name: "shared-memory", MountPath: "/dev/shm"},
					{Name: "settings", MountPath: "/etc/train", ReadOnly: true},
				},
			}},
			Volumes: []corev1.Volume{
				{Name: "shared-memory", VolumeSource: corev1.VolumeSource{
					EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}},
				{Name: "settings", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: cluster + "-settings"}}}},
			},
		},
	}
}

// newStatus is what a kubelet reports for a pod that runs.
func newStatus(seed uint64, index int) corev1.PodStatus {
	random := stream(seed, index)
	started := metav1.NewTime(epoch.Add(time.Duration(random.IntN(86400)) * time.Second))
	ready := true
	ip := fmt.Sprintf("10.244.%d.%d", index/250%250, index%250+1)
	return corev1.PodStatus{
		Phase:      corev1.PodRunning,
		Conditions: conditions(started, ""),
		HostIP:     fmt.Sprintf("10.1.%d.%d", random.IntN(250), random.IntN(250)+1),
		PodIP:      ip,
		PodIPs:     []corev1.PodIP{{IP: ip}},
		StartTime:  &started,
		QOSClass:   corev1.PodQOSGuaranteed,
		ContainerStatuses: []corev1.ContainerStatus{{
			Name:        "ray-worker",
			Ready:       true,
			Started:     &ready,
			Image:       image,
			ImageID:     "registry.example/ray@sha256:" + hex(stream(seed, -1)),
			ContainerID: "containerd://" + hex(random),
			State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}},
		}},
	}
}

func conditions(at metav1.Time, message string) []corev1.PodCondition {
	kinds := []corev1.PodConditionType{
		corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled,
	}
	var all []corev1.PodCondition
	for _, kind := range kinds {
		all = append(all, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: at})
	}
	all[2].Message = message
	return all
}

// statusPatch is the merge patch of the k-th update: new transition times and a message that names k. It never equals
// what is stored, so every patch is an event for the watchers.
func statusPatch(seed uint64, index, k int) ([]byte, error) {
	random := stream(seed, index)
	at := metav1.NewTime(epoch.Add(time.Duration(86400+random.IntN(86400)+k) * time.Second))
	message := fmt.Sprintf("update %d", k)
	return json.Marshal(map[string]any{"status": map[string]any{
		"phase":      corev1.PodRunning,
		"message":    message,
		"conditions": conditions(at, message),
	}})
}
