import type { RuntimeState } from '../../../server/contract/deployments.ts'
import { useProject } from '../../api/queries.ts'
import { useTitle } from '../frame/title.ts'
import { LogPanel } from './log-panel.tsx'
import { useRuntimeLog } from './use-runtime-log.ts'

const stateWords: Record<RuntimeState, string> = {
  starting: 'The app is starting',
  running: 'The app is running',
  cold: 'The app is asleep; reading its log does not wake it',
  exited: 'The app has exited',
  oom: 'The app was stopped: it needed more memory than it may have',
  stopped: 'The app is stopped',
}

export default function LogsPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  useTitle(`Logs · ${project?.name ?? slug}`)
  const { store, stream, state, deployments } = useRuntimeLog(slug)
  return (
    <LogPanel
      store={store}
      label="Log of the app"
      file={`${slug}.log`}
      empty={stream.name === 'connecting' ? 'Opening the log…' : 'Nothing yet. What the app prints appears here as it happens.'}
      state={
        stream.name === 'waiting'
          ? 'The stream is cut; trying again'
          : stream.name === 'refused'
            ? stream.problem.message
            : state
              ? stateWords[state]
              : 'Live'
      }
      groups={deployments.map((id) => ({ value: id, text: `Deployment …${id.slice(-6)}` }))}
    />
  )
}
