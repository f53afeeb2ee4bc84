/** The parts that other features may use. */
export { ProjectPlan } from './project-plan.tsx'
export { SourcePlanView } from './source-plan-view.tsx'
