import styles from './progress.module.css'

/** A progress bar with a label; changes of the label are announced. Without a value the duration is indeterminate. */
export function Progress({ label, value, text }: { label: string; value?: number; text?: string }) {
  return (
    <div className={styles.progress}>
      <p className={styles.progressLabel}>
        <span role="status">{label}</span>
        {text && <span className="text-subtle">{text}</span>}
      </p>
      <div
        className={`${styles.progressBar} ${value === undefined ? styles.progressIndeterminate : ''}`}
        role="progressbar"
        aria-label={label}
        {...(value === undefined ? {} : { 'aria-valuemin': 0, 'aria-valuemax': 100, 'aria-valuenow': Math.floor(value * 100) })}
      >
        <span style={{ width: value === undefined ? '100%' : `${value * 100}%` }} />
      </div>
    </div>
  )
}
