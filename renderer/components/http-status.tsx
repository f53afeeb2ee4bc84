import styles from './http-status.module.css'

/** A status code of HTTP, in the color of its class. */
export function HttpStatus({ status }: { status: number | null }) {
  return <span className={`${styles.status} ${status === null ? '' : styles[`tone-${toneOf(status)}`]}`}>{status}</span>
}

const toneOf = (status: number): string => (status >= 500 ? 'server-error' : status >= 400 ? 'client-error' : status >= 300 ? 'redirect' : 'success')
