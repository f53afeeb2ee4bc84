import styles from './page.module.css'
const height = 26
const width = 96

/** Requests of the last 24 hours as 24 bars, newest on the right; the tooltip shows the total. */
export function Sparkline({ requests }: { requests: number[] | undefined }) {
  if (!requests) return <span className={styles.sparkline} />
  const highest = Math.max(1, ...requests)
  const step = width / requests.length
  const total = requests.reduce((sum, count) => sum + count, 0)
  const summary = `${total.toLocaleString()} ${total === 1 ? 'request' : 'requests'} in 24 hours`
  return (
    <svg className={styles.sparkline} viewBox={`0 0 ${width} ${height}`} height={height} role="img" aria-label={summary}>
      <title>{summary}</title>
      {requests.map((count, index) => {
        const barHeight = count === 0 ? 1 : Math.max(3, (count / highest) * height)
        return (
          <rect
            key={index}
            x={index * step}
            y={height - barHeight}
            width={step - 1}
            height={barHeight}
            fill="currentColor"
            opacity={count === 0 ? 0.25 : index === requests.length - 1 ? 0.6 : 1}
          />
        )
      })}
    </svg>
  )
}
