import { bun } from './bun.ts'
import { deno } from './deno.ts'
import { dotnet } from './dotnet.ts'
import { elixir } from './elixir.ts'
import { go } from './go.ts'
import { java } from './java.ts'
import type { Language } from './language.ts'
import { php } from './php.ts'
import { python } from './python.ts'
import { ruby } from './ruby.ts'
import { rust } from './rust.ts'

/** The languages that Homeport builds with Docker without a Dockerfile, in the order in which a source is checked. */
export const languages: readonly Language[] = [bun, deno, ruby, php, elixir, java, dotnet, go, rust, python]
