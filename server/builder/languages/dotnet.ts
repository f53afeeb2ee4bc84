import { dockerfile, type Language, type LanguageApp, startWith, unprivileged } from './language.ts'

/** .NET: the project in the root, or the web project in a subfolder of a solution. */
export const dotnet: Language = async (app) => {
  const project = await findProject(app)
  if (!project) return null
  const version = /<TargetFramework>net(\d+\.\d+)/.exec(project.text)?.[1] ?? '8.0'
  const assembly =
    /<AssemblyName>([^<]+)/.exec(project.text)?.[1] ??
    project.path
      .split('/')
      .at(-1)
      ?.replace(/\.\w+$/, '') ??
    'app'
  const build = app.build_command ?? `dotnet publish ${project.path} -c Release -o /out`
  return {
    framework: 'dotnet',
    explanation: [`.NET app found (${project.path}): .NET ${version}`, `Build: ${build}`],
    dockerfile: dockerfile(
      `FROM mcr.microsoft.com/dotnet/sdk:${version} AS build`,
      'WORKDIR /src',
      project.path.includes('/') ? null : [`COPY ${project.path} ./`, `RUN ${app.install_command ?? 'dotnet restore'}`],
      'COPY . .',
      `RUN ${build}`,
      '',
      `FROM mcr.microsoft.com/dotnet/aspnet:${version}`,
      'WORKDIR /app',
      'COPY --chown=1000:1000 --from=build /out ./',
      unprivileged,
      startWith(app.procfile ?? `env ASPNETCORE_URLS=http://0.0.0.0:$PORT dotnet ${assembly}.dll`),
    ),
    ignored: ['bin', 'obj', '**/bin', '**/obj', '.env', 'node_modules'],
  }
}

const isProjectFile = (name: string) => /\.(cs|fs|vb)proj$/.test(name)

async function findProject(app: LanguageApp): Promise<{ path: string; text: string } | null> {
  const root = app.names.find(isProjectFile)
  if (root !== undefined) return { path: root, text: (await app.read(root)) ?? '' }
  if (!app.names.some((name) => /\.slnx?$/.test(name))) return null
  const folders = app.names.filter((name) => name.endsWith('/'))
  const nested = (await app.list('src')).filter((name) => name.endsWith('/')).map((name) => `src/${name}`)
  for (const folder of [...folders, ...nested]) {
    const name = (await app.list(folder)).find(isProjectFile)
    const text = name === undefined ? null : await app.read(`${folder}${name}`)
    if (text !== null && /Sdk="Microsoft\.NET\.Sdk\.Web"/.test(text)) return { path: `${folder}${name}`, text }
  }
  return null
}
