import type { PlanChoice } from '../../api/source-plans.ts'
import type { SourceApp } from '../../../server/contract/source-plans.ts'
import { frameworkName } from '../../lib/frameworks.ts'
import styles from './plan.module.css'

interface AppChoiceProps {
  /** Where the selection is stored without a file: in the settings of a project, or of the one to be created. */
  isSaved: boolean
  apps: readonly SourceApp[]
  choice: PlanChoice
  /** Whether the root of the repository is also an app. */
  hasRootApp: boolean
  onChoose: (choice: PlanChoice) => void
}

/** The apps of a monorepo. One becomes the root directory, several become services of one project. */
export function AppChoice({ isSaved, apps, choice, hasRootApp, onChoose }: AppChoiceProps) {
  const chosen = choice.apps
  const toggle = (directory: string) => {
    const next = chosen.includes(directory) ? chosen.filter((one) => one !== directory) : [...chosen, directory]
    onChoose({ root_directory: null, apps: next })
  }
  return (
    <fieldset className={styles.apps}>
      <legend>{hasRootApp ? 'Other apps in this repository' : 'Apps in this repository'}</legend>
      <ul>
        {apps.map(({ directory, name, framework }) => (
          <li key={directory}>
            <label className={styles.app}>
              <input type="checkbox" checked={chosen.includes(directory)} onChange={() => toggle(directory)} />
              <span>
                <strong className="truncate">{name}</strong>
                <span className="text-subtle truncate">
                  <span className="mono">{directory}</span>, {frameworkName(framework)}
                </span>
              </span>
            </label>
            <button
              type="button"
              className="button button-plain"
              aria-label={`Use this app: ${directory}`}
              onClick={() => onChoose({ root_directory: directory, apps: [] })}
            >
              <span>Use this app</span>
            </button>
          </li>
        ))}
      </ul>
      <p className="text-subtle">
        {chosen.length === 0
          ? 'Use one app, or select several to plan them as services of one project.'
          : isSaved
            ? 'These apps are deployed together as services of one project. A homeport.yaml in the repository is optional.'
            : 'Save the plan as homeport.yaml in the root of the folder: a deployment then runs these apps together.'}
      </p>
    </fieldset>
  )
}
