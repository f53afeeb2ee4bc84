import { uploadStories } from './upload-stories.ts'

uploadStories({ hostile_every: 10, mutated: 60, killed_at: [0.5], has_large: false })
