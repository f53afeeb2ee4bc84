import { Ban, CircleArrowOutUpRight, MoreHorizontal, Play, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { nodeAvailabilityLabels, nodeEdgeLabels, nodeRoleLabels } from '../../../server/contract/labels.ts'
import type { ClusterNode, NodeReplica } from '../../../server/contract/nodes.ts'
import { useRemoveNode, useUpdateNode } from '../../api/nodes.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../components/menu.tsx'
import { StatusBadge, type StatusBadgeData, StatusIcon } from '../../components/status.tsx'
import { formatBytes } from '../../lib/format.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import styles from './page.module.css'

const availabilityBadges: Record<ClusterNode['availability'], StatusBadgeData> = {
  active: { label: nodeAvailabilityLabels.active, shape: 'disc', tone: 'live' },
  cordoned: { label: nodeAvailabilityLabels.cordoned, shape: 'ring', tone: 'idle' },
  draining: { label: nodeAvailabilityLabels.draining, shape: 'turning', tone: 'busy' },
  drained: { label: nodeAvailabilityLabels.drained, shape: 'square', tone: 'idle' },
}
const downBadge: StatusBadgeData = { label: 'Down', shape: 'diamond', tone: 'fail' }

const replicaBadges: Record<NodeReplica['state'], StatusBadgeData> = {
  running: { label: 'Running', shape: 'disc', tone: 'live' },
  starting: { label: 'Starting', shape: 'turning', tone: 'busy' },
  stopping: { label: 'Stopping', shape: 'dash', tone: 'idle' },
}

/** A node: its state, what it has, and the replicas that run on it. */
export function NodeCard({ node }: { node: ClusterNode }) {
  const { name, address, role, is_leader, is_control_plane, is_ready, availability, edge, labels, replicas } = node
  const [isRemoving, setRemoving] = useState(false)
  const update = useUpdateNode()
  const change = (next: 'active' | 'cordoned' | 'drained') => update.mutate({ params: { node: node.id }, body: { availability: next } })
  const projects = Map.groupBy(replicas, ({ project_slug, branch }) => `${project_slug} ${branch ?? ''}`)
  return (
    <li className={`card ${styles.node}`} data-testid={`node-${name}`}>
      <header className={styles.nodeHead}>
        <div>
          <h2>{sanitizeForDisplay(name)}</h2>
          <p className="text-subtle">
            <span className="mono">{address}</span> · {is_leader ? 'Leader' : nodeRoleLabels[role]}
            {is_control_plane && ' · Homeport'}
            {edge !== null && ` · ${nodeEdgeLabels[edge]}`}
          </p>
        </div>
        <StatusBadge badge={is_ready ? availabilityBadges[availability] : downBadge} />
        <Menu trigger={<IconButton icon={MoreHorizontal} label={`Actions for ${name}`} />}>
          {availability !== 'active' && (
            <MenuItem icon={Play} onSelect={() => change('active')}>
              Activate
            </MenuItem>
          )}
          {availability === 'active' && (
            <MenuItem icon={Ban} onSelect={() => change('cordoned')}>
              Cordon
            </MenuItem>
          )}
          {(availability === 'active' || availability === 'cordoned') && (
            <MenuItem icon={CircleArrowOutUpRight} onSelect={() => change('drained')}>
              Drain
            </MenuItem>
          )}
          {!is_control_plane && (
            <>
              <MenuSeparator />
              <MenuItem icon={Trash2} danger onSelect={() => setRemoving(true)}>
                Remove…
              </MenuItem>
            </>
          )}
        </Menu>
      </header>
      {Object.keys(labels).length > 0 && (
        <ul className={styles.labels} aria-label={`Labels of ${name}`}>
          {Object.entries(labels)
            .toSorted(([a], [b]) => a.localeCompare(b))
            .map(([key, value]) => (
              <li key={key} className="mono">
                {key}={value}
              </li>
            ))}
        </ul>
      )}
      <MemoryMeter node={node} />
      {replicas.length === 0 ? (
        <p className={`text-muted ${styles.empty}`}>Nothing runs here.</p>
      ) : (
        <ul className={styles.projects} aria-label={`Replicas on ${name}`}>
          {[...projects.values()].map((own) => (
            <ProjectReplicas key={`${own[0]?.project_slug} ${own[0]?.branch}`} replicas={own} />
          ))}
        </ul>
      )}
      {isRemoving && <RemoveNodeDialog node={node} onClose={() => setRemoving(false)} />}
    </li>
  )
}

function MemoryMeter({ node: { cpus, memory_mb, reserved_mb, engine_version } }: { node: ClusterNode }) {
  const reserved = formatBytes(reserved_mb * 2 ** 20)
  const total = formatBytes(memory_mb * 2 ** 20)
  return (
    <div className={styles.memory}>
      <meter min={0} max={Math.max(1, memory_mb)} value={reserved_mb} aria-label="Reserved memory" aria-valuetext={`${reserved} of ${total}`} />
      <p className="text-subtle">
        {reserved} of {total} reserved · {cpus} {cpus === 1 ? 'CPU' : 'CPUs'}
        {engine_version !== null && ` · Docker ${engine_version}`}
      </p>
    </div>
  )
}

function ProjectReplicas({ replicas }: { replicas: readonly NodeReplica[] }) {
  const [first] = replicas
  if (!first) return null
  return (
    <li>
      <Link href={`/projects/${first.project_slug}`}>{sanitizeForDisplay(first.project_name)}</Link>
      {first.branch !== null && <span className="text-subtle"> {sanitizeForDisplay(first.branch)}</span>}
      <ul className={styles.replicas}>
        {replicas.map(({ deployment_id, service, replica, state }) => (
          <li key={`${deployment_id} ${service} ${replica}`} className={styles.replica}>
            <StatusIcon badge={replicaBadges[state]} size={10} label={replicaBadges[state].label} />
            {service === null ? `Replica ${replica}` : `${service} ${replica}`}
          </li>
        ))}
      </ul>
    </li>
  )
}

function RemoveNodeDialog({ node: { id, name, is_ready }, onClose }: { node: ClusterNode; onClose: () => void }) {
  const remove = useRemoveNode({ hidesErrorToast: true, successMessage: `Removed ${name} from the cluster.`, onSuccess: onClose })
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Remove ${name}?`}
      description={
        is_ready
          ? 'It must be drained first. Its Docker engine keeps running and can join again.'
          : 'It does not answer. If it comes back, it is no longer part of the cluster.'
      }
    >
      {remove.error && <ProblemView problem={remove.error} />}
      <footer className="dialog-footer">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate({ params: { node: id } })}>
          Remove
        </Button>
      </footer>
    </Dialog>
  )
}
