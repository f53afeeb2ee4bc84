import { Sparkline } from '../../components/sparkline.tsx'

/** Requests of the last 24 hours by hour; the tooltip shows the total. */
export function RequestCourse({ requests }: { requests: number[] | undefined }) {
  if (!requests) return null
  const total = requests.reduce((sum, count) => sum + count, 0)
  return <Sparkline values={requests} label={`${total.toLocaleString()} ${total === 1 ? 'request' : 'requests'} in 24 hours`} />
}
