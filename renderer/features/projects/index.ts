export { ProjectFilterSelect } from './project-filter-select.tsx'
