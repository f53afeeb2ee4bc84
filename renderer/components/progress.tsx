import './progress.css'

/** A bar with its words, of which the label is spoken when it changes. Without a value nobody knows how long it takes. */
export function Progress({ label, value, text }: { label: string; value?: number; text?: string }) {
  return (
    <div className="progress">
      <p className="progress-label">
        <span role="status">{label}</span>
        {text && <span className="text-subtle">{text}</span>}
      </p>
      <div
        className={`progress-bar ${value === undefined ? 'progress-indeterminate' : ''}`}
        role="progressbar"
        aria-label={label}
        {...(value === undefined ? {} : { 'aria-valuemin': 0, 'aria-valuemax': 100, 'aria-valuenow': Math.floor(value * 100) })}
      >
        <span style={{ width: value === undefined ? '100%' : `${value * 100}%` }} />
      </div>
    </div>
  )
}
