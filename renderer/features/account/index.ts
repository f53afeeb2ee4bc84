/** The parts that other features may use. */
export { OneTimeLinkDialog } from './member-dialogs.tsx'
