import { navigate } from 'wouter/use-browser-location'
import { baseOf } from '../../stores/address.ts'
import { useConnection } from '../../stores/connection.ts'

/** Brings another instance to the front, at its projects. */
export function switchTo(id: string): void {
  if (useConnection.getState().wanted !== id) navigate(`${baseOf(id)}/`)
}
