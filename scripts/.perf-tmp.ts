import { loadSkillsSubsystem } from '/work/main/src/skills/index.ts';
for(let i=0;i<20;i++) loadSkillsSubsystem({roots:[{kind:'builtin',path:'/tmp/hb/lib'}]});
