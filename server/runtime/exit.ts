import { constants } from 'node:os'
import type { ReplicaExit } from './runtime.ts'

const signalNames = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]))

/** The end by a signal as shells tell it: 128 and the signal's number. Engines know but the number, Node but the name. */
export function createReplicaExit(code: number | null, signal: NodeJS.Signals | null, out_of_memory: boolean): ReplicaExit {
  if (signal !== null) return { code: code ?? 128 + (constants.signals[signal] ?? 0), signal, out_of_memory }
  return { code, signal: code !== null && code > 128 ? (signalNames.get(code - 128) ?? null) : null, out_of_memory }
}
