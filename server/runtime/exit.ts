import { constants } from 'node:os'
import type { ReplicaExit } from './runtime.ts'

const signalNames = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]))

/** Represents an end by signal as shells do: 128 plus the signal number. Docker reports only the number, Node only the name. */
export function createReplicaExit(code: number | null, signal: NodeJS.Signals | null, out_of_memory: boolean): ReplicaExit {
  if (signal !== null) return { code: code ?? 128 + (constants.signals[signal] ?? 0), signal, out_of_memory }
  return { code, signal: code !== null && code > 128 ? (signalNames.get(code - 128) ?? null) : null, out_of_memory }
}
