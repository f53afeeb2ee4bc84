import { useLocation } from 'wouter'
import { SegmentedControl } from './segmented-control.tsx'

const logs = [
  { value: '', text: 'Output' },
  { value: '/requests', text: 'Requests' },
] as const

/** Switches between the two logs of a project. */
export function LogSwitch({ slug, log }: { slug: string; log: (typeof logs)[number]['value'] }) {
  const [, navigate] = useLocation()
  return <SegmentedControl label="Log" value={log} choices={logs} onChange={(next) => navigate(`/projects/${slug}/logs${next}`)} />
}
