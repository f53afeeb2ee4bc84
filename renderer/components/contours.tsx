import styles from './contours.module.css'

/** Contour lines, rendered once as the background of empty pages. */
export function Contours() {
  return (
    <svg className={styles.contours} viewBox="0 0 1200 600" preserveAspectRatio="xMidYMid slice" aria-hidden>
      {lines.map((line) => (
        <path key={line} d={line} />
      ))}
    </svg>
  )
}

const lines = Array.from({ length: 15 }, (_, index) => contour(40 + index * 46, index))

/** A closed curve, distorted by a few slow waves. */
function contour(radius: number, index: number): string {
  const points = Array.from({ length: 97 }, (_, step) => {
    const angle = (step / 96) * 2 * Math.PI
    const sway = 1 + 0.13 * Math.sin(3 * angle + index * 0.16) + 0.07 * Math.sin(5 * angle - index * 0.21) + 0.04 * Math.cos(2 * angle + index * 0.3)
    const x = 830 + Math.cos(angle) * radius * 1.45 * sway
    const y = 330 + Math.sin(angle) * radius * 0.82 * sway
    return `${x.toFixed(1)} ${y.toFixed(1)}`
  })
  return `M${points.join('L')}Z`
}
