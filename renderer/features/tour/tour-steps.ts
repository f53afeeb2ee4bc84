/** Facts about an instance that complete the steps. */
export interface TourFacts {
  slug: string
  /** Whether the app was visited; null: unknown. */
  address: string | null
  was_visited: boolean
  ready_deployments: number
  variables: number
  has_preview: boolean
  has_database: boolean
  /** null: this user cannot open it. */
  is_network_open: boolean | null
}

export type TourStepId = 'open' | 'redeploy' | 'variable' | 'palette' | 'database' | 'phone'

export interface TourStep {
  id: TourStepId
  title: string
  description: string
  /** A dashboard page, a web URL, or the palette. */
  to: string
  is_done: boolean
}

/** The first steps with their completion; steps in `before` stay completed. */
export function buildTourSteps(facts: TourFacts, completed: readonly string[]): TourStep[] {
  const root = `/projects/${facts.slug}`
  const steps: (TourStep | null)[] = [
    {
      id: 'open',
      title: 'Open your app',
      description: 'Your app is live at this URL.',
      to: facts.address ?? root,
      is_done: facts.was_visited,
    },
    {
      id: 'redeploy',
      title: 'Deploy a change',
      description: 'No downtime: the current version stays live until the new one is healthy.',
      to: root,
      is_done: facts.ready_deployments > 1,
    },
    {
      id: 'variable',
      title: 'Add a variable',
      description: 'Stored encrypted and available to the app from its next deployment.',
      to: `${root}/environment?do=add`,
      is_done: facts.variables > 0,
    },
    { id: 'palette', title: 'Run any command', description: 'Find projects and actions by typing a few letters:', to: 'palette', is_done: false },
    {
      id: 'database',
      title: 'Add a database or a preview',
      description: 'Create a database, or push a branch to get its own URL.',
      to: `${root}/database`,
      is_done: facts.has_preview || facts.has_database,
    },
    facts.is_network_open === null
      ? null
      : {
          id: 'phone',
          title: 'Open it on your phone',
          description: 'Scan a QR code from the same network.',
          to: '/instance/network?at=lan',
          is_done: facts.is_network_open,
        },
  ]
  return steps.filter((step) => step !== null).map((step) => ({ ...step, is_done: step.is_done || completed.includes(step.id) }))
}
