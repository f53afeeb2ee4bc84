export { UnsavedFilesNotice } from './unsaved-files-notice.tsx'
