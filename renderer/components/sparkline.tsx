import styles from './sparkline.module.css'

const height = 26
const width = 96

/** A small bar chart of evenly spaced values, newest on the right. `label` is its text alternative and its tooltip. */
export function Sparkline({ values, label, isAlarming = false }: { values: readonly number[]; label: string; isAlarming?: boolean }) {
  const highest = Math.max(Number.MIN_VALUE, ...values)
  const step = width / values.length
  return (
    <svg
      className={`${styles.sparkline} ${isAlarming ? styles.alarming : ''}`}
      viewBox={`0 0 ${width} ${height}`}
      height={height}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {values.map((value, index) => {
        const barHeight = value === 0 ? 1 : Math.max(3, (value / highest) * height)
        return (
          <rect
            key={index}
            x={index * step}
            y={height - barHeight}
            width={step - 1}
            height={barHeight}
            fill="currentColor"
            opacity={value === 0 ? 0.25 : index === values.length - 1 ? 0.6 : 1}
          />
        )
      })}
    </svg>
  )
}
