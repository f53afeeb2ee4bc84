import { navigate } from 'wouter/use-browser-location'
import { instanceBasePath } from '../../lib/instance-path.ts'
import { useConnection } from '../../stores/connection.ts'

/** Switches to another instance and opens its projects. */
export function switchInstance(id: string): void {
  if (useConnection.getState().requested_id !== id) navigate(`${instanceBasePath(id)}/`)
}
