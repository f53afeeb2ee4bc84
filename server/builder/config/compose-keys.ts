import type { ConfigContext } from './service-draft.ts'
import { explainNearest } from './nearest-name.ts'
import { quote, type YamlMap } from './yaml-tree.ts'

/** The meaning of a key that is not read: `note` has no effect here, `reject` must not be ignored. The text gives the reason. */
export type KeyRule = { note: string } | { reject: string; hint: string }

const note = (text: string): KeyRule => ({ note: text })
const machine = (text: string): KeyRule => ({ reject: text, hint: 'Remove the line: apps are isolated from this machine and from other projects.' })
const unsupported = (text: string, hint: string): KeyRule => ({ reject: text, hint })

const limitNote = note('has no effect. mem_limit and cpus limit a service.')
const imageNote = note('has no effect here.')

/** Keys of a service that are read; the others are in `serviceRules`. */
export const serviceKeys = (
  'image build command entrypoint environment env_file ports expose volumes depends_on healthcheck restart deploy scale mem_limit cpus ' +
  'working_dir container_name hostname links networks profiles extends configs secrets network_mode privileged security_opt cap_drop init ipc'
).split(' ')

export const serviceRules: Record<string, KeyRule> = {
  annotations: imageNote,
  attach: imageNote,
  blkio_config: limitNote,
  cap_add: machine('gives the container rights over this machine'),
  cgroup: machine('shares the machine’s control groups'),
  cgroup_parent: machine('leaves the control group that limits the project'),
  cpu_count: limitNote,
  cpu_percent: limitNote,
  cpu_period: limitNote,
  cpu_quota: limitNote,
  cpu_rt_period: machine('takes real-time priority on this machine'),
  cpu_rt_runtime: machine('takes real-time priority on this machine'),
  cpu_shares: limitNote,
  cpuset: limitNote,
  credential_spec: machine('uses credentials of this machine'),
  develop: imageNote,
  device_cgroup_rules: machine('opens devices of this machine'),
  devices: machine('opens devices of this machine'),
  dns: machine('replaces the name server, by which services find each other'),
  dns_opt: imageNote,
  dns_search: machine('changes how names are found'),
  domainname: imageNote,
  external_links: machine('reaches a container outside of the project'),
  extra_hosts: machine('gives a name to another address, such as this machine’s'),
  gpus: machine('opens devices of this machine'),
  group_add: machine('adds the container to groups of this machine'),
  isolation: machine('changes how the container is isolated'),
  label_file: imageNote,
  labels: note('has no effect: routes come from ports.'),
  logging: note('has no effect: Homeport keeps the output of each service.'),
  mac_address: imageNote,
  mem_reservation: limitNote,
  mem_swappiness: limitNote,
  memswap_limit: limitNote,
  models: unsupported('needs a model runner, which Homeport does not have', 'Run the model as a service, or remove the line.'),
  oom_kill_disable: machine('lets the container exhaust the memory of this machine'),
  oom_score_adj: limitNote,
  pid: machine('shows the container the processes of this machine or of another container'),
  pids_limit: limitNote,
  platform: note('has no effect: images run on the platform of this machine.'),
  post_start: unsupported('is not run', 'Do this in the command, or in a separate service with restart: "no".'),
  pre_stop: unsupported('is not run', 'Do this in the command when the service receives SIGTERM.'),
  provider: unsupported('needs a program of this machine', 'Replace it with a service that has an image.'),
  pull_policy: imageNote,
  read_only: note('has no effect: the container may write to its own files.'),
  runtime: machine('replaces the program that isolates containers'),
  shm_size: imageNote,
  stdin_open: imageNote,
  stop_grace_period: imageNote,
  stop_signal: imageNote,
  storage_opt: limitNote,
  sysctls: machine('changes settings of the kernel'),
  tmpfs: note('has no effect: the folder is part of the container’s own files.'),
  tty: imageNote,
  ulimits: limitNote,
  use_api_socket: machine('gives the container control of the engine'),
  user: note('has no effect: the service runs as the user of its image.'),
  userns_mode: machine('shares the users of this machine'),
  uts: machine('shares the host name of this machine'),
  volumes_from: unsupported('mounts all volumes of another container', 'Name each volume in volumes.'),
}

export const buildKeys = 'context dockerfile target args network'.split(' ')

export const buildRules: Record<string, KeyRule> = {
  additional_contexts: unsupported('reads folders or images outside of the build', 'Put the files into the folder of the build.'),
  cache_from: imageNote,
  cache_to: imageNote,
  dockerfile_inline: unsupported('has a Dockerfile inside the file', 'Save it as a Dockerfile in the source, and name it in dockerfile.'),
  entitlements: machine('gives the build rights over this machine'),
  extra_hosts: machine('gives a name to another address'),
  isolation: machine('changes how the build is isolated'),
  labels: imageNote,
  no_cache: imageNote,
  platforms: note('has no effect: images are built for the platform of this machine.'),
  privileged: machine('gives the build rights over this machine'),
  provenance: imageNote,
  pull: imageNote,
  sbom: imageNote,
  secrets: unsupported('uses secrets of this machine', 'Install private packages with the registry settings of the instance.'),
  shm_size: imageNote,
  ssh: machine('uses SSH keys of this machine'),
  tags: imageNote,
  ulimits: limitNote,
}

/** Reports every key of a map that is not in `known`: as a note, as a problem, or as a key that does not exist. */
export function checkKeys(map: YamlMap, label: string, known: readonly string[], rules: Record<string, KeyRule>, { log }: ConfigContext): void {
  for (const { key, at, value } of map.entries.values()) {
    if (known.includes(key) || key.startsWith('x-')) continue
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined
    const isOff = value.kind === 'scalar' && (value.value === null || value.value === false || value.text === '')
    const isEmpty = (value.kind === 'list' && value.items.length === 0) || (value.kind === 'map' && value.entries.size === 0)
    if (rule === undefined) log.reject(at, `${label}: ${quote(key)} is not a known key.`, explainNearest(key, [...known, ...Object.keys(rules)]))
    else if (isOff || isEmpty) continue
    else if ('note' in rule) log.note(at, `${label}.${key} ${rule.note}`)
    else log.reject(at, `${label}.${key} ${rule.reject}.`, rule.hint)
  }
}
