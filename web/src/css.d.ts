// esbuild gathers these into app.css.
declare module '*.css';
