import type { ServiceReplica } from '../../../server/contract/services.ts'

interface ReplicaSelectProps {
  replicas: readonly ServiceReplica[]
  /** Null: all of them. */
  number: string | null
  onChange(number: string | null): void
}

/** Selects one of the replicas of a service, if it has several. */
export function ReplicaSelect({ replicas, number, onChange }: ReplicaSelectProps) {
  const numbers = [...new Set([...replicas.map(({ replica }) => String(replica)), ...(number === null ? [] : [number])])]
  if (numbers.length === 0) return null
  return (
    <select
      className="input select"
      aria-label="Replica"
      value={number ?? ''}
      onChange={({ target: { value } }) => onChange(value === '' ? null : value)}
    >
      <option value="">All replicas</option>
      {numbers.map((one) => (
        <option key={one} value={one}>
          Replica {one}
        </option>
      ))}
    </select>
  )
}
