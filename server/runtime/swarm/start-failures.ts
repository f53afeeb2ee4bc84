import { StartFailure } from '../runtime.ts'
import type { SwarmTask } from './tasks.ts'

/** Something else has the port of a replica on its node, or another instance on each node that could take it. */
export const isPortTaken = ({ message }: SwarmTask): boolean =>
  /port is already allocated|address already in use|host-mode port already in use/i.test(message)

/** No node that the constraints allow has the memory that it reserves. */
export const isWithoutRoom = ({ state, message }: SwarmTask): boolean => state === 'pending' && message.includes('insufficient resources')

/** The engine could not start the program: an end that is no exit of the app. */
export const isStartError = ({ message, state }: SwarmTask): boolean =>
  state === 'rejected' || /starting container failed|executable file not found|no such file or directory/i.test(message)

export function toStartFailure({ message }: SwarmTask, command: string): StartFailure {
  if (/executable file not found|no such file or directory/i.test(message))
    return new StartFailure(
      'start_failed',
      `The app did not start: the program of its start command, \`${command}\`, was not found in the image.`,
      'Check the start script in package.json or the CMD in the Dockerfile.',
    )
  if (/no such image|pull|manifest|unauthorized|denied/i.test(message))
    return new StartFailure(
      'start_failed',
      'The app did not start, because its node of the swarm could not get the image from the registry.',
      'Run homeport doctor, which checks the registry. A node that joined without --registry first has to trust the one of Homeport: homeport node trust (homeport help cluster). Then deploy again.',
      new Error(message),
    )
  return new StartFailure('start_failed', `The app did not start: ${message || 'its node ended it'}.`, 'Run homeport doctor, then deploy again.')
}
